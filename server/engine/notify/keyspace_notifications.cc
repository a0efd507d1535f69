#include "server/engine/notify/keyspace_notifications.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "protocol/text/number_text.h"
#include "server/engine/config/keyspace_event_flags.h"
#include "server/engine/notify/channels.h"
#include "server/engine/store/database.h"

namespace zsetd {
namespace {

// The events whose name does not begin with the letter of their class.
constexpr std::pair<std::string_view, char> kClasses[] = {
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

char ClassOf(std::string_view event) {
  const auto found = std::ranges::find(kClasses, event, &std::pair<std::string_view, char>::first);
  return found != std::end(kClasses) ? found->second : event.front();
}

}  // namespace

void PublishKeyEvent(const KeyspaceEventFlags& flags, const Change& change, Channels& channels) {
  if (!flags.Has(ClassOf(change.event))) return;
  const std::string database = "@" + IntegerText(change.database) + "__:";
  if (flags.Has('K')) {
    channels.Publish("__keyspace" + database + std::string(change.key), change.event);
  }
  if (flags.Has('E')) {
    channels.Publish("__keyevent" + database + std::string(change.event), change.key);
  }
}

}  // namespace zsetd
