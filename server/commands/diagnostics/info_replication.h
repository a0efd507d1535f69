#pragma once

#include "server/commands/diagnostics/info_writer.h"
#include "server/engine/engine.h"

namespace zsetd {

// INFO replication.
void WriteReplication(InfoWriter& info, Engine& engine);

}  // namespace zsetd
