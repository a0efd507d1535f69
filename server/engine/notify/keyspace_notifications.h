#pragma once

namespace zsetd {

struct Change;
class Channels;
class KeyspaceEventFlags;

// Publishes the change of a key on the channels that `flags` select, if its class of event is among
// them. O(subscribers of these channels + patterns).
void PublishKeyEvent(const KeyspaceEventFlags& flags, const Change& change, Channels& channels);

}  // namespace zsetd
