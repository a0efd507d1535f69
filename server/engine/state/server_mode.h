#pragma once

#include <cstdint>
#include <optional>

#include "core/util/time.h"

namespace zsetd {

// The states of the server that restrict its work, and the questions that they answer. The owner of
// each state sets and clears it: SuspendedUnit, persistence, ReplicationState, ClientPause. Other
// code asks these questions and combines no states itself.
class ServerMode {
 public:
  enum class Loading : uint8_t {
    kNone,
    kAlone,  // no data is served until the end
    kBeside  // the old data is served until the master's data replaces it
  };

  ServerMode() = default;
  ServerMode(const ServerMode&) = delete;

  void set_suspended(bool suspended) { Set(kSuspended, suspended); }
  void set_replica(bool replica) { Set(kReplica, replica); }
  void set_loading(Loading loading) {
    Set(kLoadingAlone, loading == Loading::kAlone);
    Set(kLoadingBeside, loading == Loading::kBeside);
  }
  void set_paused_until(std::optional<Millis> until) {
    Set(kPaused, until.has_value());
    paused_until_ = until.value_or(Millis(0));
  }

  bool is_suspended() const { return Is(kSuspended); }  // a script, in the middle of a unit
  bool is_replica() const { return Is(kReplica); }
  bool is_loading() const { return Is(kLoadingAlone); }
  bool is_loading_beside() const { return Is(kLoadingBeside); }

  // Whether clients are paused (CLIENT PAUSE and its like). A pause that is over counts as one
  // until its owner clears it, but the time is compared.
  bool IsPaused(Millis now) const { return Is(kPaused) && now < paused_until_; }

  // Whether there is nothing besides requests. O(1), one comparison.
  bool IsNormal() const { return states_ == 0; }

  // Whether nothing but its role restricts the server.
  bool IsIdleApartFromRole() const { return (states_ & ~uint32_t{kReplica}) == 0; }

  // Whether no unit is half done: the time may advance, journals and snapshots may begin.
  bool IsBetweenUnits() const { return !is_suspended(); }

  // Whether neither a unit nor a load is half done: a snapshot may begin, and requests are checked
  // against the memory limit.
  bool HasWholeData() const { return IsBetweenUnits() && !is_loading(); }

  // Whether data may change without a new request: due keys and elements are removed, blocked
  // clients are served.
  bool MayChangeByItself(Millis now) const { return IsBetweenUnits() && !IsPaused(now); }

  // Whether ticks may remove due keys and elements. A replica removes only those that it has given
  // deadlines itself.
  bool MayExpire(Millis now) const { return MayChangeByItself(now) && !is_loading(); }

  // Whether keys may be evicted. A replica may also leave that to its master (ReplicationState).
  bool MayEvict(Millis now) const { return MayExpire(now) && !is_loading_beside(); }

 private:
  enum State : uint32_t {
    kSuspended = 1u << 0,
    kLoadingAlone = 1u << 1,
    kLoadingBeside = 1u << 2,
    kReplica = 1u << 3,
    kPaused = 1u << 4,
  };

  bool Is(State state) const { return (states_ & state) != 0; }
  void Set(State state, bool on) { states_ = on ? states_ | state : states_ & ~state; }

  uint32_t states_ = 0;
  Millis paused_until_{0};
};

}  // namespace zsetd
