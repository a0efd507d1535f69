#pragma once

#include <cstdint>

#include "server/engine/call.h"

namespace zsetd {

// Takes the next argument as the number of a database; refuses one that does not exist.
int TakeDatabaseIndex(Call& call);

// Refuses a number that no database has.
void CheckDatabaseIndex(Call& call, int64_t index);

}  // namespace zsetd
