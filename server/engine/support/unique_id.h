#pragma once

#include <cstddef>
#include <string>

namespace zsetd {

inline constexpr size_t kUniqueIdLength = 40;  // as Redis

// Returns 40 hexadecimal digits from the random source of the operating system: an ID of a run, of
// a replication history or of a node. Two servers with the same random-seed have different IDs,
// because an ID that another server has too would make replicas continue with the wrong data.
// Aborts the process if the system has no random source.
std::string UniqueId();

}  // namespace zsetd
