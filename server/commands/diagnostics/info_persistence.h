#pragma once

#include "server/commands/diagnostics/info_writer.h"
#include "server/engine/engine.h"

namespace zsetd {

// INFO persistence. Nothing is kept on disk: everything but the number of changes is as in a Redis
// that never saved.
void WritePersistence(InfoWriter& info, Engine& engine);

}  // namespace zsetd
