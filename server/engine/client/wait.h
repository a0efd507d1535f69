#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "core/util/time.h"

namespace zsetd {

class Entry;
class ReplyWriter;
struct TimedScoreRange;

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

  // Whether an entry may serve the command although it does not change; see NextDue().
  virtual bool IsTimed() const { return scores() != nullptr; }

  // Whether the command runs again, to reply an error, when a key that it waits for is deleted.
  virtual bool EndsWithoutKey() const { return false; }

  // Whether acknowledgements of the log and of replicas end the wait, and whether they have.
  virtual bool AwaitsAcknowledgements() const { return false; }
  virtual bool IsAcknowledged() const { return false; }
};

}  // namespace zsetd
