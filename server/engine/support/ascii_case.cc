#include "server/engine/support/ascii_case.h"

#include <algorithm>
#include <cctype>

namespace zsetd {
namespace {

std::string Mapped(std::string_view text, int (*map)(int)) {
  std::string mapped(text);
  std::ranges::transform(mapped, mapped.begin(),
                         [map](unsigned char letter) { return static_cast<char>(map(letter)); });
  return mapped;
}

}  // namespace

std::string UpperCase(std::string_view text) { return Mapped(text, std::toupper); }
std::string LowerCase(std::string_view text) { return Mapped(text, std::tolower); }

}  // namespace zsetd
