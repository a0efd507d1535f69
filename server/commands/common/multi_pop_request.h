#pragma once

#include <cstdint>
#include <string_view>

#include "server/engine/call.h"

namespace zsetd {

// The keys of a command with a timeout as its last argument.
inline constexpr KeyPlaces kAllButLast = {1, -2, 1};

// Takes "numkeys key [key ...]".
Args TakeCountedKeys(ArgReader& args);

// Takes "[COUNT count]" at the end of LMPOP and similar commands; 1 by default.
uint64_t TakeMultiPopCount(ArgReader& args);

// Takes the count after the word COUNT, or refuses another word.
uint64_t TakeCountOption(ArgReader& args);

// Opens the first key that exists, and sets `found` to its name. Returns an empty Edit if none
// exists. A command that was blocked only considers the key that unblocked it.
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
