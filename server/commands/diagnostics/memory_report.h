#pragma once

#include "server/engine/admin_call.h"

namespace zsetd {

// MEMORY STATS: the figures under Redis's names.
void MemoryStats(AdminCall& call);

// MEMORY DOCTOR: an analysis of the figures in plain text.
void MemoryDoctor(AdminCall& call);

}  // namespace zsetd
