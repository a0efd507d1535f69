#include "server/cluster/migration/export_machine.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

namespace zsetd {
namespace {

constexpr Millis kBetweenTries{100};

// A process that was stopped first reads the replies that have arrived in the meantime. After the
// grant it also exchanges messages with most masters (bus/slot_grants.h), so that the pause is
// followed by the outbid, and clients see no error.
constexpr Millis kForArrivedReplies{300};

// As Valkey names them.
constexpr std::array<std::string_view, 10> kExportStates = {
    "connecting",
    "reading-auth-response",
    "reading-establish-response",
    "snapshotting",
    "waiting-to-pause",
    "failover-paused",
    "failover-granted",
    "success",
    "failed",
    "cancelled",
};

}  // namespace

std::string_view ExportMachine::state_text() const {
  return kExportStates[static_cast<size_t>(state_)];
}

ExportMachine::Step ExportMachine::Enter(Millis now, State state, Step step) {
  assert(!has_ended());
  state_ = state;
  updated_ = now;
  return step;
}

void ExportMachine::End(Millis now, State state, std::string_view reason) {
  if (has_ended()) return;
  Enter(now, state, Step::kNone);
  message_ = reason;
}

ExportMachine::Step ExportMachine::OnConnected(Millis now, bool must_authenticate) {
  if (state_ != State::kConnecting) return Step::kNone;
  acknowledged_ = now;
  return must_authenticate ? Enter(now, State::kAuthenticating, Step::kAuthenticate)
                           : Enter(now, State::kEstablishing, Step::kEstablish);
}

void ExportMachine::OnSent(Millis now) {
  if (awaited_++ == 0) waits_since_ = now;
}

ExportMachine::Step ExportMachine::OnReply(Millis now, std::string_view error) {
  if (has_ended()) return Step::kNone;
  if (awaited_ == 0) {
    Fail(now, "The target has sent a reply without a request");
    return Step::kNone;
  }
  --awaited_;
  acknowledged_ = waits_since_ = now;
  if (state_ == State::kEstablishing && error.starts_with("TRYAGAIN")) {
    establishes_again_at_ = now + kBetweenTries;
    return Step::kNone;
  }
  if (!error.empty()) {
    was_refused_ = state_ == State::kGranted;
    Fail(now, "The target replied: " + std::string(error));
    return Step::kNone;
  }
  if (state_ == State::kAuthenticating) {
    return Enter(now, State::kEstablishing, Step::kEstablish);
  }
  if (state_ == State::kEstablishing) return Enter(now, State::kCopying, Step::kCopy);
  if (state_ == State::kGranted && awaited_ == 0) {
    return Enter(now, State::kSuccess, Step::kHandOver);
  }
  return Step::kNone;
}

void ExportMachine::OnCopied(Millis now) {
  assert(state_ == State::kCopying);
  Enter(now, State::kWaitingToPause, Step::kNone);
}

ExportMachine::Step ExportMachine::OnTick(Millis now, const Surroundings& surroundings,
                                          const Limits& limits) {
  if (has_ended()) return Step::kNone;
  if (state_ == State::kGranted && surroundings.target_owns_slots) {
    return Enter(now, State::kSuccess, Step::kHandOver);
  }
  if (IsPaused() && now >= pause_until_ && !late_since_) late_since_ = now;
  if (late_since_ && (state_ == State::kPaused || now >= *late_since_ + kForArrivedReplies)) {
    Fail(now, is_lost_ ? message_ : "The target has not taken the slots in time");
  } else if (!surroundings.owns_slots) {
    Fail(now, "A slot has got another owner");
  } else if (state_ == State::kGranted) {
    return Step::kNone;
  } else if (!surroundings.target_is_master) {
    Fail(now, "The target is not a master any more");
  } else if (awaited_ > 0 && now - waits_since_ > limits.silence) {
    Fail(now, "The target does not respond");
  } else if (state_ == State::kConnecting && now - updated_ > limits.silence) {
    Fail(now, "The target cannot be reached");
  } else if (limits.most_unsent > 0 && surroundings.unsent_bytes > limits.most_unsent) {
    Fail(now, "client-output-buffer-limit for replicas was reached");
  } else if (state_ == State::kEstablishing && establishes_again_at_) {
    if (now - updated_ > limits.silence) {
      Fail(now, "The target does not delete the keys of an earlier import");
    } else if (now >= *establishes_again_at_) {
      establishes_again_at_.reset();
      return Step::kEstablish;
    }
  } else if (state_ == State::kWaitingToPause) {
    const int64_t most = limits.most_unsent_at_pause;
    if (!surroundings.may_pause) return Step::kNone;
    if (most >= 0 && surroundings.unsent_bytes > static_cast<size_t>(most)) return Step::kNone;
    pause_until_ = now + limits.pause;
    return Enter(now, State::kPaused, Step::kPause);
  } else if (state_ == State::kPaused && awaited_ == 0 && surroundings.writes_are_stopped) {
    if (!std::exchange(has_announced_pause_, true)) return Step::kAnnouncePause;
    pause_until_ = std::min(pause_until_, acknowledged_ + limits.grant);
    return Enter(now, State::kGranted, Step::kGrant);
  }
  return Step::kNone;
}

void ExportMachine::OnLost(Millis now, std::string_view reason) {
  const std::string line = "The connection to the target has ended: " + std::string(reason);
  if (state_ != State::kGranted) return Fail(now, line);
  is_lost_ = true;
  message_ = line;
}

bool ExportMachine::Cancel(Millis now) {
  if (has_ended() || state_ == State::kGranted) return false;
  End(now, State::kCancelled, "");
  return true;
}

}  // namespace zsetd
