#pragma once

#include <string_view>

namespace zsetd {

// Returns the setting whose name differs least from an unknown name: by at most two letters that
// are wrong, missing, added or exchanged with their neighbour. Returns an empty text if no name is
// that similar, or the name has more than 64 bytes. Compares the name with the settings of about
// its length, in O(length^2) each.
std::string_view SuggestedSetting(std::string_view name);

}  // namespace zsetd
