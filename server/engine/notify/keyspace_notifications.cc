#include "server/engine/notify/keyspace_notifications.h"

#include <algorithm>
#include <iterator>
#include <span>
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

std::string LengthAndBytes(std::string_view text) {
  return IntegerText(static_cast<int64_t>(text.size())) + ":" + std::string(text);
}

std::string Joined(std::span<const std::string> subkeys) {
  std::string text;
  for (const std::string& subkey : subkeys) {
    text += (text.empty() ? "" : ",") + LengthAndBytes(subkey);
  }
  return text;
}

void PublishSubkeys(const KeyspaceEventFlags& flags, const Change& change,
                    std::span<const std::string> changed, Channels& channels) {
  const std::string database = "@" + IntegerText(change.database) + "__:";
  const std::string key(change.key);
  const std::string event(change.event);
  const std::string subkeys = Joined(changed);
  if (flags.Has('S')) {
    channels.Publish("__subkeyspace" + database + key, event + "|" + subkeys);
  }
  if (flags.Has('T')) {
    channels.Publish("__subkeyevent" + database + event, LengthAndBytes(key) + "|" + subkeys);
  }
  if (flags.Has('I') && key.find('\n') == std::string::npos) {
    for (const std::string& subkey : changed) {
      channels.Publish("__subkeyspaceitem" + database + key + "\n" + subkey, event);
    }
  }
  if (flags.Has('V')) {
    channels.Publish("__subkeyspaceevent" + database + event + "|" + key, subkeys);
  }
}

}  // namespace

bool PublishesSubkeys(const KeyspaceEventFlags& flags, std::string_view event) {
  return flags.HasSubkeys() && flags.Has(ClassOf(event));
}

void PublishKeyEvent(const KeyspaceEventFlags& flags, const Change& change, Channels& channels) {
  if (!flags.Has(ClassOf(change.event))) return;
  const std::string database = "@" + IntegerText(change.database) + "__:";
  if (flags.Has('K')) {
    channels.Publish("__keyspace" + database + std::string(change.key), change.event);
  }
  if (flags.Has('E')) {
    channels.Publish("__keyevent" + database + std::string(change.event), change.key);
  }
  if (!PublishesSubkeys(flags, change.event) || !channels.HasListeners()) return;
  const auto changed = change.expired_elements.empty() ? change.subkeys : change.expired_elements;
  if (!changed.empty()) PublishSubkeys(flags, change, changed, channels);
}

}  // namespace zsetd
