#pragma once

#include <string>

#include "server/engine/engine.h"

namespace zsetd {

// Returns a description of an inconsistency in the engine's data; empty if the data is consistent.
// No key holds an empty value; a sorted set is in order, and finds each of its members.
// O(elements).
std::string WrongInData(Engine& engine);

}  // namespace zsetd
