#pragma once

#include <string>

#include "server/engine/engine.h"

namespace zsetd {

// What does not hold together in the data that the engine keeps, in words; empty if nothing. No key
// holds an empty value; a sorted set is in order, and knows each of its members. O(elements).
std::string WrongInData(Engine& engine);

}  // namespace zsetd
