#pragma once

#include "server/engine/admin_call.h"

namespace zsetd {

// MEMORY STATS: the figures, under the names that Redis uses.
void MemoryStats(AdminCall& call);

// MEMORY DOCTOR: an analysis of them in plain text.
void MemoryDoctor(AdminCall& call);

}  // namespace zsetd
