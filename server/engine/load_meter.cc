#include "server/engine/load_meter.h"

#include <algorithm>

#include "server/engine/support/allocator_stats.h"

namespace zsetd {
namespace {

constexpr Millis kBetweenSamples{100};

}  // namespace

void RateMeter::Sample(Millis now, uint64_t count) {
  readings_[taken_++ % readings_.size()] = {now, count};
}

uint64_t RateMeter::PerSecond() const {
  const size_t kept = std::min(taken_, readings_.size());
  if (kept < 2) return 0;
  const Reading& oldest = readings_[(taken_ - kept) % readings_.size()];
  const Reading& newest = readings_[(taken_ - 1) % readings_.size()];
  const uint64_t millis = static_cast<uint64_t>((newest.at - oldest.at).count());
  return millis == 0 ? 0 : (newest.count - oldest.count) * 1000 / millis;
}

LoadMeter::LoadMeter() : startup_bytes_(UsedBytes()), peak_bytes_(startup_bytes_) {}

void LoadMeter::Sample(Millis now, const Stats& stats) {
  if (now - sampled_at_ < kBetweenSamples) return;
  sampled_at_ = now;
  commands_.Sample(now, stats.commands_processed);
  input_bytes_.Sample(now, stats.net_input_bytes);
  output_bytes_.Sample(now, stats.net_output_bytes);
  peak_bytes_ = std::max(peak_bytes_, UsedBytes());
}

void LoadMeter::Reset() { commands_ = input_bytes_ = output_bytes_ = RateMeter(); }

}  // namespace zsetd
