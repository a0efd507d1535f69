#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace zsetd {

// The classes of key events that are published, and the channels they are published on: the value
// of notify-keyspace-events, a set of letters as Redis has them:
//
//   K  on __keyspace@<database>__:<key>, the event     g  of any kind of value: del, expire, ...
//   E  on __keyevent@<database>__:<event>, the key     $ l s h z t d  of one kind of value
//   A  g $ l s h z t x e d                             x expired  e evicted  n new  m missed
//
// and, as Redis 8.8 has them, the channels of subkeys, the members or fields that changed:
//
//   S  on __subkeyspace@<database>__:<key>, the event and the subkeys
//   T  on __subkeyevent@<database>__:<event>, the key and the subkeys
//   I  on __subkeyspaceitem@<database>__:<key>\n<subkey>, the event
//   V  on __subkeyspaceevent@<database>__:<event>|<key>, the subkeys
//
// and, as only zsetd has it:
//
//   r  the first elements of sorted sets, on channels of their own (notify/top_channel.h)
class KeyspaceEventFlags {
 public:
  // The letters in the order of Redis, with A for the classes that it includes.
  std::string Text() const;

  // Nothing changes if a letter is unknown.
  absl::Status Read(std::string_view letters);

  bool Any() const { return letters_ != 0; }

  // Whether subkeys are published on any channel.
  bool HasSubkeys() const;

  // Whether the set holds this letter, which is one of those above but A.
  bool Has(char letter) const;

  bool operator==(const KeyspaceEventFlags&) const = default;

 private:
  uint32_t letters_ = 0;  // a bit for each, in the order of kLetters
};

}  // namespace zsetd
