#pragma once

#include <cstdint>

#include "server/engine/call.h"

namespace zsetd {

// Takes the next argument as the number of a database; an error if it does not exist.
int TakeDatabaseIndex(Call& call);

// Records an error if there is no database of that number.
void CheckDatabaseIndex(Call& call, int64_t index);

}  // namespace zsetd
