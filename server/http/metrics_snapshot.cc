#include "server/http/metrics_snapshot.h"

#include <cassert>
#include <utility>

#include "protocol/text/number_text.h"
#include "server/engine/config/setting_row.h"
#include "server/engine/config/settings_table.h"
#include "server/engine/metrics/slow_log.h"

namespace zsetd {
namespace {

class Taking {
 public:
  Taking(Engine& engine, const InfoSource& source,
         std::function<void(std::unique_ptr<MetricsSnapshot>)> done)
      : engine_(engine), source_(source), done_(std::move(done)) {}

  bool Step() {
    engine_.metrics().Gather();
    if (next_ < source_.sections.size()) {
      snapshot_->info += source_.text(source_.sections[next_++]);
      return true;
    }
    CopyCommands();
    CopySlowLog();
    CopyLatencyEvents();
    CopySettings();
    done_(std::move(snapshot_));
    return false;
  }

 private:
  void CopyCommands() {
    for (const Command& row : engine_.commands().rows()) {
      const CommandStats& stats = engine_.metrics().of(row);
      if (stats.calls + stats.rejected + stats.failed == 0) continue;
      snapshot_->commands.push_back({std::string(row.name), stats});
    }
  }

  void CopySlowLog() {
    const auto& slow = engine_.metrics().slow_log().commands();
    snapshot_->slow_log_length = slow.size();
    if (slow.empty()) return;
    snapshot_->slow_log_last_id = slow.front().id;
    snapshot_->slow_log_last_took = slow.front().took;
  }

  void CopyLatencyEvents() {
    for (const auto& [name, series] : engine_.metrics().latency().events()) {
      const LatencySample& last = series.samples.back();
      snapshot_->latency_events.push_back({name, last.second, last.took});
    }
  }

  void CopySettings() {
    const Settings& settings = engine_.settings();
    snapshot_->min_replicas_to_write = settings.min_replicas_to_write;
    const Setting* threads = FindSetting("io-threads");
    assert(threads != nullptr);
    snapshot_->io_threads = ParseInteger(ValueOf(*threads, settings)).value_or(1);
  }

  Engine& engine_;
  const InfoSource& source_;
  std::function<void(std::unique_ptr<MetricsSnapshot>)> done_;
  std::unique_ptr<MetricsSnapshot> snapshot_ = std::make_unique<MetricsSnapshot>();
  size_t next_ = 0;
};

}  // namespace

void TakeSnapshot(Engine& engine, const InfoSource& source, const PostStep& post,
                  std::function<void(std::unique_ptr<MetricsSnapshot>)> done) {
  auto taking = std::make_shared<Taking>(engine, source, std::move(done));
  post([taking] { return taking->Step(); });
}

}  // namespace zsetd
