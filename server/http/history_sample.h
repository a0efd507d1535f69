#pragma once

#include <functional>

#include "server/engine/engine.h"
#include "server/http/figure_history.h"
#include "server/http/main_thread.h"
#include "server/http/metrics_snapshot.h"

namespace zsetd {

// Takes a sample in steps on the thread of the commands: one section of INFO per step, then the
// latencies of all commands. Calls `done` on that thread. `engine` and `source` must outlive it.
void TakeHistorySample(Engine& engine, const InfoSource& source, const PostStep& post,
                       std::function<void(HistorySample)> done);

}  // namespace zsetd
