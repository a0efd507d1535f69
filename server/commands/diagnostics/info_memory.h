#pragma once

#include "server/commands/diagnostics/info_writer.h"
#include "server/engine/engine.h"

namespace zsetd {

// INFO memory.
void WriteMemory(InfoWriter& info, Engine& engine);

}  // namespace zsetd
