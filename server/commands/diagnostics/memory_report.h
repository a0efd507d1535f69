#pragma once

#include "server/engine/call.h"

namespace zsetd {

// MEMORY STATS: the figures, under the names that Redis uses.
void MemoryStats(Call& call);

// MEMORY DOCTOR: an analysis of them in plain text.
void MemoryDoctor(Call& call);

}  // namespace zsetd
