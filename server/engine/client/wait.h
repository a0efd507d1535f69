#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/util/time.h"

namespace zsetd {

class Entry;
class ReplyWriter;
struct TimedScoreRange;

// A group of streams, and how long a pending entry must have been idle to be claimed from it.
struct GroupClaim {
  std::string group;
  std::optional<Millis> min_idle;  // nullopt: pending entries are not claimed

  auto operator<=>(const GroupClaim&) const = default;
};

// The reason why a blocked command waits, and its reply if it waits for too long. A blocked client
// owns one; it never changes.
class Wait {
 public:
  virtual ~Wait() = default;

  // Whether the command may succeed when it runs again and this is the entry at `key`.
  virtual bool CanServe(std::string_view key, const Entry& entry, Millis now) const = 0;

  // The time at which the entry can serve the command although it does not change. Nullopt: never.
  // Precondition: not CanServe().
  virtual std::optional<Millis> NextDue(const Entry& entry, Millis now) const {
    (void)entry, (void)now;
    return std::nullopt;
  }

  // Writes the reply of a command that was not served until its timeout.
  virtual void GiveUp(ReplyWriter& reply) const = 0;

  // The allocated bytes of this object.
  virtual size_t BytesUsed() const = 0;

  // The scores that the command waits for in its only key; null: it waits for something else. All
  // waits for the same scores of a key can be served, or none.
  virtual const TimedScoreRange* scores() const { return nullptr; }

  // The group, in each of its keys, whose new and idle entries the command waits for; null: it
  // waits for something else. All waits for the same group and time of a key can be served, or
  // none.
  virtual const GroupClaim* claim() const { return nullptr; }

  // Whether an entry may serve the command although it does not change; see NextDue().
  bool IsTimed() const { return scores() != nullptr || claim() != nullptr; }

  // Whether the command runs again, to reply an error, when a key that it waits for is deleted.
  virtual bool EndsWithoutKey() const { return false; }

  // Whether acknowledgements of the log and of replicas end the wait, and whether they have.
  virtual bool AwaitsAcknowledgements() const { return false; }
  virtual bool IsAcknowledged() const { return false; }
};

}  // namespace zsetd
