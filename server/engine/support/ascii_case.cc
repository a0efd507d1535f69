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

char Lower(char letter) { return letter >= 'A' && letter <= 'Z' ? letter + ('a' - 'A') : letter; }

}  // namespace

std::string UpperCase(std::string_view text) { return Mapped(text, std::toupper); }
std::string LowerCase(std::string_view text) { return Mapped(text, std::tolower); }

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, Lower, Lower);
}

}  // namespace zsetd
