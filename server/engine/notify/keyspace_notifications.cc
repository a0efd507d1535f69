#include "server/engine/notify/keyspace_notifications.h"

#include <span>
#include <string>
#include <string_view>

#include "protocol/text/number_text.h"
#include "server/engine/config/keyspace_event_flags.h"
#include "server/engine/notify/channels.h"
#include "server/engine/store/database.h"

namespace zsetd {
namespace {

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
  const std::string event(NameOf(change.event));
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

bool PublishesSubkeys(const KeyspaceEventFlags& flags, KeyEvent event) {
  return flags.HasSubkeys() && flags.Has(ClassOf(event));
}

void PublishKeyEvent(const KeyspaceEventFlags& flags, const Change& change, Channels& channels) {
  if (!channels.HasListeners() || !flags.Has(ClassOf(change.event))) return;
  const std::string_view name = NameOf(change.event);
  const std::string database = "@" + IntegerText(change.database) + "__:";
  if (flags.Has('K')) {
    channels.Publish("__keyspace" + database + std::string(change.key), name);
  }
  if (flags.Has('E')) {
    channels.Publish("__keyevent" + database + std::string(name), change.key);
  }
  if (!PublishesSubkeys(flags, change.event)) return;
  const auto changed = change.expired_elements.empty() ? change.subkeys : change.expired_elements;
  if (!changed.empty()) PublishSubkeys(flags, change, changed, channels);
}

}  // namespace zsetd
