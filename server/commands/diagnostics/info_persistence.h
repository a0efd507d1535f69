#pragma once

#include "server/commands/diagnostics/info_writer.h"
#include "server/engine/engine.h"

namespace zsetd {

// INFO persistence. There is no append-only log: its fields are those of a Redis that has none.
void WritePersistence(InfoWriter& info, Engine& engine);

}  // namespace zsetd
