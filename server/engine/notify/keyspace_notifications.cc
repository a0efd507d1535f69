#include "server/engine/notify/keyspace_notifications.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "protocol/text/number_text.h"
#include "server/engine/notify/channels.h"
#include "server/engine/store/database.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

constexpr std::string_view kAll = "g$lshzxetd";               // what A stands for
constexpr std::string_view kLetters = "g$lshzxetdnKEm";       // in the order they are written
constexpr std::string_view kEveryLetter = "Ag$lshzxeKEtmdn";  // in the order an error names them

uint32_t BitOf(char letter) {
  const size_t place = kLetters.find(letter);
  return place == std::string_view::npos ? 0 : 1u << place;
}

uint32_t BitsOf(std::string_view letters) {
  uint32_t bits = 0;
  for (const char letter : letters) bits |= BitOf(letter);
  return bits;
}

// The events whose name does not begin with the letter of their kind.
constexpr std::pair<std::string_view, char> kKinds[] = {
    {"append", '$'},
    {"copy_to", 'g'},
    {"del", 'g'},
    {"evicted", 'e'},
    {"expire", 'g'},
    {"expired", 'x'},
    {"geosearchstore", 'z'},
    {"georadiusstore", 'z'},
    {"incrby", '$'},
    {"incrbyfloat", '$'},
    {"keymiss", 'm'},
    {"move_from", 'g'},
    {"move_to", 'g'},
    {"new", 'n'},
    {"persist", 'g'},
    {"rename_from", 'g'},
    {"rename_to", 'g'},
    {"restore", 'g'},
    {"rpop", 'l'},
    {"rpush", 'l'},
    {"set", '$'},
    {"setbit", '$'},
    {"setrange", '$'},
    {"sortstore", 'l'},
};

char KindOf(std::string_view event) {
  const auto named = std::ranges::find(kKinds, event, &std::pair<std::string_view, char>::first);
  const char kind = named != std::end(kKinds) ? named->second : event.front();
  assert(BitOf(kind) != 0);
  return kind;
}

}  // namespace

bool KeyspaceEvents::Has(char letter) const { return (letters_ & BitOf(letter)) != 0; }

std::string KeyspaceEvents::Text() const {
  const bool all = (letters_ & BitsOf(kAll)) == BitsOf(kAll);
  std::string text = all ? "A" : "";
  for (const char letter : kLetters) {
    if (Has(letter) && !(all && kAll.find(letter) != std::string_view::npos)) text += letter;
  }
  return text;
}

absl::Status KeyspaceEvents::Read(std::string_view letters) {
  if (letters.find_first_not_of(kEveryLetter) != std::string_view::npos) {
    return Refusal("Invalid event class character. Use '" + std::string(kEveryLetter) + "'.");
  }
  letters_ = BitsOf(letters);
  if (letters.find('A') != std::string_view::npos) letters_ |= BitsOf(kAll);
  return absl::OkStatus();
}

void KeyspaceEvents::Announce(const Change& change, Channels& channels) const {
  if (!Has(KindOf(change.event))) return;
  const std::string database = "@" + IntegerText(change.database) + "__:";
  if (Has('K')) channels.Publish("__keyspace" + database + std::string(change.key), change.event);
  if (Has('E')) channels.Publish("__keyevent" + database + std::string(change.event), change.key);
}

}  // namespace zsetd
