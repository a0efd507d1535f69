#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace zsetd {

struct Change;
class Channels;

// Which changes of keys are told on channels, and on which channels (notify-keyspace-events). A set
// of letters, as Redis has them:
//
//   K  on __keyspace@<database>__:<key>, the event     g  of any kind of value: del, expire, ...
//   E  on __keyevent@<database>__:<event>, the key     $ l s h z t d  of one kind of value
//   A  g $ l s h z t x e d                             x expired  e evicted  n new  m missed
//
// Nothing is told unless K or E is among them.
class KeyspaceEvents {
 public:
  // The letters in Redis's order, those that A stands for as A.
  std::string Text() const;

  // Nothing changes if a letter is unknown.
  absl::Status Read(std::string_view letters);

  // Whether anything is told at all.
  bool Any() const { return letters_ != 0; }

  // Tells of a change, if its kind is among those to be told. O(listeners + patterns).
  void Announce(const Change& change, Channels& channels) const;

  bool operator==(const KeyspaceEvents&) const = default;

 private:
  bool Has(char letter) const;

  uint32_t letters_ = 0;  // a bit for each, in the order of kLetters
};

}  // namespace zsetd
