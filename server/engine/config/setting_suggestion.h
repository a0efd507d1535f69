#pragma once

#include <string_view>

namespace zsetd {

// Returns the setting whose name differs least from an unknown name: by at most two letters that
// are wrong, missing, added or exchanged with their neighbour. Returns an empty text if no name is
// that similar. The cost is the length of `name` for each setting; longer names than 64 bytes have
// no suggestion.
std::string_view SuggestedSetting(std::string_view name);

}  // namespace zsetd
