#include "server/engine/metrics/load_meter.h"

#include <algorithm>
#include <cassert>

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
  assert(newest.count >= oldest.count);
  return millis == 0 ? 0 : (newest.count - oldest.count) * 1000 / millis;
}

LoadMeter::LoadMeter() : startup_bytes_(UsedBytes()), peak_bytes_(startup_bytes_) {}

void LoadMeter::Sample(Millis now, const Stats& stats, size_t uncounted_bytes) {
  if (now - sampled_at_ < kBetweenSamples) return;
  sampled_at_ = now;
  commands_.Sample(now, stats.commands_processed);
  input_bytes_.Sample(now, stats.network.input_bytes);
  output_bytes_.Sample(now, stats.network.output_bytes);
  rounds_.Sample(now, stats.rounds);
  round_time_.Sample(now, static_cast<uint64_t>(stats.round_time.count()));
  const size_t used = UsedBytes();
  NoteUsed(used - std::min(used, uncounted_bytes));
}

Micros LoadMeter::time_per_round() const {
  const uint64_t rounds = rounds_.PerSecond();
  return Micros(rounds == 0 ? 0 : round_time_.PerSecond() / rounds);
}

void LoadMeter::Reset() {
  commands_ = input_bytes_ = output_bytes_ = rounds_ = round_time_ = RateMeter();
}

}  // namespace zsetd
