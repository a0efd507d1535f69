#pragma once

#include <cstdint>
#include <string_view>

#include "server/engine/call.h"

namespace zsetd {

// The keys of a command whose last argument is its timeout.
inline constexpr KeyPlaces kAllButLast = {1, -2, 1};

// Takes "numkeys key [key ...]".
Args TakeCountedKeys(ArgReader& args);

// Takes "[COUNT count]" at the end of ZMPOP, LMPOP and similar commands; 1 by default.
uint64_t TakeMultiPopCount(ArgReader& args);

// Opens the first of the keys that exists; `found` is its name. Empty if none exists. A command
// that was blocked considers only the key that unblocked it.
template <class T>
Edit<T> OpenFirst(Call& call, Args keys, KeyEvent event, std::string_view& found) {
  for (const std::string_view key : keys) {
    if (!call.MayServe(key)) continue;
    Edit<T> edit = call.Open<T>(key, event);
    found = key;
    if (edit || !call.args.ok()) return edit;
  }
  return Edit<T>();
}

}  // namespace zsetd
