#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/util/time.h"
#include "server/engine/notify/top_channel.h"

namespace zsetd {

class Channels;
class Store;

// The channels of top_channel.h that have subscribers, and the first elements that each of them has
// reported.
//
//   Notifier ──► Touch(): the key becomes due, at most once in 10 ms ──► PublishNext() ──► Channels
//
// A change costs O(log keys): only PublishNext() reads the sorted set. Without such channels a
// change costs one test of empty().
//
// The elements of a channel count as memory of each of its subscribers. If they exceed a limit, the
// messages about the key wait until they fit, and are then about all changes in the meantime.
//
// Invariants: a channel is followed from its first subscriber to its last, unless there are too
// many; the elements take at most kMostBytes.
class LiveTops {
 public:
  static constexpr Millis kWindow{10};                // between two messages of a channel
  static constexpr Millis kRetryAfter{1000};          // if elements exceed a limit
  static constexpr size_t kMostElements = 1'000'000;  // of all channels
  static constexpr size_t kMostBytes = 64u << 20;     // of all channels
  static constexpr size_t kMostChannels = 16;         // of one key

  // Both outlive it; they may be constructed later.
  LiveTops(const Store& store, Channels& channels) : store_(store), channels_(channels) {}

  // The most that is kept for the channel; 0 for a channel of another kind.
  static size_t MostBytesFor(std::string_view channel);

  bool empty() const { return keys_.empty(); }

  // The channel has got its first subscriber. The first message will report the changes from now
  // on. Ignores other channels. O(log n + its elements).
  void Follow(std::string_view channel);

  // The channel has lost its last subscriber. Ignores channels that are not followed.
  void Forget(std::string_view channel);

  // The key has changed, or any key of the database.
  void Touch(int database, std::string_view key);
  void TouchAll(int database);

  // The earliest time at which a key is due.
  std::optional<Millis> NextDue() const;

  // Sends the messages about one key that is due. Returns false if none is. Precondition: no unit
  // is half done. O(log n + elements of its channels).
  bool PublishNext();

 private:
  using Key = std::pair<int, std::string>;  // the database and the name
  struct Followed {
    std::string channel;
    size_t count = 0;
    bool reversed = false;
    Top reported;
    size_t bytes = 0;  // of all this
  };
  struct State {
    std::vector<Followed> channels;  // at least one
    std::optional<Millis> published;
    std::optional<Millis> due;
  };

  Top ReadTop(const Key& key, size_t count, bool reversed) const;
  static size_t BytesOf(std::string_view channel, std::string_view key, const Top& reported);
  void SetReported(const Key& key, Followed& followed, Top top);
  bool MayGrow(const Followed& followed, size_t bytes) const;
  void MakeDue(const Key& key, State& state);
  bool PublishChanges(const Key& key, State& state);

  const Store& store_;
  Channels& channels_;
  std::map<Key, State> keys_;
  std::set<std::pair<Millis, Key>> due_;
  size_t elements_ = 0;
  size_t bytes_ = 0;
};

}  // namespace zsetd
