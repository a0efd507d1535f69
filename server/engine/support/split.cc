#include "server/engine/support/split.h"

#include <algorithm>

namespace zsetd {

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    parts.push_back(text.substr(0, text.find(separator)));
    text.remove_prefix(std::min(text.size(), parts.back().size() + 1));
  }
  return parts;
}

}  // namespace zsetd
