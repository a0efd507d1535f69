#pragma once

#include "server/commands/diagnostics/info_writer.h"
#include "server/engine/engine.h"

namespace zsetd {

// INFO stats, commandstats, errorstats and latencystats: the counters since the last CONFIG
// RESETSTAT.
void WriteStats(InfoWriter& info, Engine& engine);
void WriteCommandStats(InfoWriter& info, Engine& engine);
void WriteErrorStats(InfoWriter& info, Engine& engine);
void WriteLatencyStats(InfoWriter& info, Engine& engine);

}  // namespace zsetd
