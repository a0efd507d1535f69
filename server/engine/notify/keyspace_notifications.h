#pragma once

#include "server/engine/store/key_event.h"

namespace zsetd {

struct Change;
class Channels;
class KeyspaceEventFlags;

// Publishes the change of a key on the channels that `flags` select, if its class of event is among
// them; then its subkeys, if it has any. O(subscribers of these channels + patterns, subkeys);
// without any subscriber, O(1).
//
// A subkey is written as its length, a colon and its bytes, and several have commas between them:
// 3:abc,2:xx. As Redis 8.8, nothing is published where the name of a channel would be ambiguous:
// on I if the key has a line feed.
void PublishKeyEvent(const KeyspaceEventFlags& flags, const Change& change, Channels& channels);

// Whether subkeys of changes with this event are published.
bool PublishesSubkeys(const KeyspaceEventFlags& flags, KeyEvent event);

}  // namespace zsetd
