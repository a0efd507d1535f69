#pragma once

#include "server/engine/call.h"

namespace zsetd {

// MEMORY STATS: the figures under Redis's names.
void MemoryStats(Call& call);

// MEMORY DOCTOR: what looks wrong with them, in words.
void MemoryDoctor(Call& call);

}  // namespace zsetd
