#include "server/engine/config/keyspace_event_flags.h"

#include <cassert>

#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

constexpr std::string_view kAll = "g$lshzxetd";  // the classes that A includes
constexpr std::string_view kSubkeys = "STIV";
constexpr std::string_view kLetters = "g$lshzxetdnKEmSTIVr";       // in the order they are written
constexpr std::string_view kEveryLetter = "Ag$lshzxeKEtmdnSTIVr";  // in the order of the error text

uint32_t BitOf(char letter) {
  const size_t place = kLetters.find(letter);
  return place == std::string_view::npos ? 0 : 1u << place;
}

uint32_t BitsOf(std::string_view letters) {
  uint32_t bits = 0;
  for (const char letter : letters) bits |= BitOf(letter);
  return bits;
}

}  // namespace

bool KeyspaceEventFlags::Has(char letter) const {
  assert(BitOf(letter) != 0);
  return (letters_ & BitOf(letter)) != 0;
}

bool KeyspaceEventFlags::HasSubkeys() const { return (letters_ & BitsOf(kSubkeys)) != 0; }

std::string KeyspaceEventFlags::Text() const {
  const bool all = (letters_ & BitsOf(kAll)) == BitsOf(kAll);
  std::string text = all ? "A" : "";
  for (const char letter : kLetters) {
    if (Has(letter) && !(all && kAll.find(letter) != std::string_view::npos)) text += letter;
  }
  return text;
}

absl::Status KeyspaceEventFlags::Read(std::string_view letters) {
  if (letters.find_first_not_of(kEveryLetter) != std::string_view::npos) {
    return Refusal("Invalid event class character. Use '" + std::string(kEveryLetter) + "'.");
  }
  letters_ = BitsOf(letters);
  if (letters.find('A') != std::string_view::npos) letters_ |= BitsOf(kAll);
  return absl::OkStatus();
}

}  // namespace zsetd
