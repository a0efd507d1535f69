#pragma once

#include <cstdint>
#include <string_view>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"

namespace zsetd {

// The hash of a member. abseil seeds it by where the program was loaded, so nobody outside can
// choose members that collide; it differs from run to run and is never stored.
inline uint64_t MemberHash(std::string_view member) {
  return absl::Hash<absl::string_view>()(absl::string_view(member.data(), member.size()));
}

}  // namespace zsetd
