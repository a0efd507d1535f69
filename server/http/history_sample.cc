#include "server/http/history_sample.h"

#include <memory>
#include <utility>

#include "server/process/clock.h"

namespace zsetd {
namespace {

class Sampling {
 public:
  Sampling(Engine& engine, const InfoSource& source, std::function<void(HistorySample)> done)
      : engine_(engine), source_(source), done_(std::move(done)) {}

  bool Step() {
    engine_.metrics().Gather();
    if (next_ < kHistorySections.size()) {
      sample_.info += source_.text(kHistorySections[next_++]);
      return true;
    }
    for (const Command& row : engine_.commands().rows()) {
      const CommandStats& stats = engine_.metrics().of(row);
      if (stats.latency.count() > 0) sample_.latency.Add(stats.latency);
    }
    sample_.at = UnixNowExactly();
    sample_.on_clock = MonotonicNow();
    done_(std::move(sample_));
    return false;
  }

 private:
  Engine& engine_;
  const InfoSource& source_;
  std::function<void(HistorySample)> done_;
  HistorySample sample_;
  size_t next_ = 0;  // the index of the next section
};

}  // namespace

void TakeHistorySample(Engine& engine, const InfoSource& source, const PostStep& post,
                       std::function<void(HistorySample)> done) {
  auto sampling = std::make_shared<Sampling>(engine, source, std::move(done));
  post([sampling] { return sampling->Step(); });
}

}  // namespace zsetd
