#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/util/time.h"

namespace zsetd {

// The course of a migration on its source, without sockets, keys and clock:
//
//   kConnecting ─► kAuthenticating ─► kEstablishing ─► kCopying ─► kWaitingToPause
//                                                                        │ little is unsent
//                  kSuccess ◄── kGranted ◄── all is acknowledged ── kPaused
//
// Each input may return a step, which its owner must make before the next input. kFailed and
// kCancelled are possible from each state, except that a grant cannot be cancelled: the target may
// have taken the slots already. Then the writes stay paused until the target has replied, the bus
// shows that it owns the slots, or the pause has ended. The target takes them only before that: the
// source announces the pause, and grants the time from the reply to the end of the pause. The
// target measures it from the announcement, which it has received before it replied. A migration
// that fails after the grant leaves the slots in doubt, unless the target has refused them.
//
// Invariants: the grant is sent once, when the target has replied to everything that was sent
// before without an error, and no unit that began before the pause still runs; writes are paused in
// kPaused and kGranted, and only then.
class ExportMachine {
 public:
  enum class State : uint8_t {
    kConnecting,
    kAuthenticating,
    kEstablishing,
    kCopying,
    kWaitingToPause,
    kPaused,
    kGranted,
    kSuccess,
    kFailed,
    kCancelled,
  };

  enum class Step : uint8_t {
    kNone,
    kAuthenticate,
    kEstablish,  // announces the migration, again if the target has asked for that (TRYAGAIN)
    kCopy,       // begins to copy keys, and to send changes
    kPause,      // pauses writes
    kAnnouncePause,
    kGrant,     // lets the target take the slots, during GrantedTime() since the announcement
    kHandOver,  // the slots belong to the target
  };

  struct Limits {
    Millis silence{60000};             // without a reply that is awaited
    Millis pause{5000};                // of writes
    Millis grant{7500};                // since the reply to the announcement
    int64_t most_unsent_at_pause = 0;  // bytes; -1: any number
    size_t most_unsent = 0;            // bytes; 0: any number
  };

  struct Surroundings {
    bool owns_slots = true;          // this node, all of them
    bool target_owns_slots = false;  // all of them
    bool target_is_master = true;    // and is known
    bool may_pause = true;           // no manual failover of this node is in progress
    bool writes_are_stopped = true;  // if paused: no suspended script may still change the slots
    size_t unsent_bytes = 0;
  };

  explicit ExportMachine(Millis now) : updated_(now), acknowledged_(now) {}

  Step OnConnected(Millis now, bool must_authenticate);

  // A request was sent; its reply is awaited.
  void OnSent(Millis now);

  // The reply to the oldest request that has none. `error` is its line; empty: none. OnTick() must
  // follow.
  Step OnReply(Millis now, std::string_view error);

  // All keys have been copied.
  void OnCopied(Millis now);

  // Must be called often, and again until it returns kNone. `now` is the time of a clock that is
  // never set, as of all functions here.
  Step OnTick(Millis now, const Surroundings& surroundings, const Limits& limits);

  // The connection has ended.
  void OnLost(Millis now, std::string_view reason);

  void Fail(Millis now, std::string_view reason) { End(now, State::kFailed, reason); }

  // Returns whether it was possible.
  bool Cancel(Millis now);

  State state() const { return state_; }
  std::string_view state_text() const;
  bool has_ended() const { return state_ >= State::kSuccess; }
  bool SendsChanges() const { return state_ >= State::kCopying && state_ <= State::kPaused; }
  bool IsPaused() const { return state_ == State::kPaused || state_ == State::kGranted; }
  Millis pause_until() const { return pause_until_; }
  Millis GrantedTime() const { return pause_until_ - acknowledged_; }
  uint64_t awaited() const { return awaited_; }

  // Whether the connection was lost after the grant: the target may have saved that the slots are
  // its own, and may say so after a restart.
  bool HasLostGrant() const { return is_lost_; }

  // Whether the target has replied an error to the grant: it has not taken the slots.
  bool WasRefused() const { return was_refused_; }
  const std::string& message() const { return message_; }
  Millis updated() const { return updated_; }            // the last change of the state
  Millis acknowledged() const { return acknowledged_; }  // the last reply

 private:
  Step Enter(Millis now, State state, Step step);
  void End(Millis now, State state, std::string_view reason);

  State state_ = State::kConnecting;
  uint64_t awaited_ = 0;
  bool has_announced_pause_ = false;
  bool is_lost_ = false;  // the connection, after the grant
  bool was_refused_ = false;
  Millis updated_;
  Millis acknowledged_;
  Millis waits_since_{0};  // for a reply
  Millis pause_until_{0};
  std::optional<Millis> late_since_;  // the pause has ended, but the target may have replied
  std::optional<Millis> establishes_again_at_;
  std::string message_;
};

}  // namespace zsetd
