#pragma once

#include <cstdint>

#include "server/engine/call.h"

namespace zsetd {

// Takes the next argument as the number of a database. Refuses it if the database does not exist.
int TakeDatabaseIndex(Call& call);

// Records an error if this database does not exist.
void CheckDatabaseIndex(Call& call, int64_t index);

}  // namespace zsetd
