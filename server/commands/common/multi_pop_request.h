#pragma once

#include <cstdint>
#include <string_view>

#include "server/engine/call.h"

namespace zsetd {

// Of a command whose last word is its timeout.
inline constexpr KeyPlaces kAllButLast = {1, -2, 1};

// Takes "numkeys key [key ...]".
Words TakeCountedKeys(ArgReader& args);

// Takes "[COUNT count]" at the end of ZMPOP, LMPOP and kin; 1 if it is not given.
uint64_t TakeMultiPopCount(ArgReader& args);

// The first of the keys that is there, opened; `found` is which. None if there is none of them.
// After a wait the key that ended it is the only one that counts.
template <class T>
Edit<T> OpenFirst(Call& call, Words keys, std::string_view event, std::string_view& found) {
  for (const std::string_view key : keys) {
    if (!call.MayServe(key)) continue;
    Edit<T> edit = call.Open<T>(key, event);
    found = key;
    if (edit || !call.args.ok()) return edit;
  }
  return Edit<T>();
}

}  // namespace zsetd
