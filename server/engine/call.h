#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>

#include "core/sorted_set/timed_score_range.h"
#include "server/engine/client/blocked_command.h"
#include "server/engine/client/caller.h"
#include "server/engine/client/key_wait.h"
#include "server/engine/client/long_reply.h"
#include "server/engine/command/arg_reader.h"
#include "server/engine/command/command.h"
#include "server/engine/store/keys.h"

namespace zsetd {

class AcknowledgementWait;
class Effects;
class Metrics;
class StreamWait;

// One run of a command: its caller, its arguments, its keys and its reply. It is all that a command
// can reach, unless its row takes an AdminCall. The arguments and the keys share one status: the
// first error is the reply.
//
//   void ZScore(Call& call) {
//     const std::string_view key = call.args.Word();
//     const std::string_view member = call.args.Word();
//     const SortedSet* set = call.Find<SortedSet>(key);
//     if (call.Refused()) return;
//     ...
//   }
class Call {
 public:
  // All that is referred to outlives it. `ready_key` is the one that ended the client's wait, if
  // the command has blocked and runs again.
  Call(Store& store, Metrics& metrics, Effects& effects, Caller& the_caller, const Command& row,
       Args argv, std::optional<std::string_view> ready_key = std::nullopt)
      : caller(the_caller),
        command(row),
        reply(the_caller.reply),
        args(argv, row.IsSubcommand() ? 2 : 1),
        keys(store, the_caller.database, AccessOf(the_caller, row)),
        metrics_(metrics),
        effects_(effects),
        argv_(argv),
        ready_key_(ready_key) {}

  // A run while other threads read the data, too. The row is concurrent, and `shared` outlives it.
  Call(Store& store, Metrics& metrics, Effects& effects, Caller& the_caller, const Command& row,
       Args argv, SharedRead& shared)
      : caller(the_caller),
        command(row),
        reply(the_caller.reply),
        args(argv, row.IsSubcommand() ? 2 : 1),
        keys(store, the_caller.database, AccessOf(the_caller, row, &shared)),
        metrics_(metrics),
        effects_(effects),
        argv_(argv) {}
  Call(const Call&) = delete;

  Caller& caller;
  const Command& command;
  ReplyWriter& reply;
  ArgReader args;
  Keys keys;

  Args argv() const { return argv_; }
  Millis now() const { return keys.now(); }

  // Whether an argument or a key was wrong; the error has then been replied. Must be called once,
  // after all arguments are read and all keys are open, and before any change.
  bool Refused();

  // Replies this error; nothing may have been changed.
  void Fail(std::string_view line);
  void Fail(const absl::Status& status) { Fail(ErrorLine(status)); }

  // Replies an error that has been counted already, as that of a command in a script.
  void FailCounted(std::string_view line);

  // Whether other threads read the data, too. The run must then end: its reply is void, and the
  // command runs again alone. Concurrent commands call this before they change anything.
  bool IsPutOff();

  // Replies the rest as the client reads it. In a transaction it is written immediately, because
  // other replies follow. Precondition: the run is alone.
  void ReplyAtLength(std::unique_ptr<LongReply> rest);

  // Blocks the client until one of the keys holds a T and has changed, or `timeout`, unless zero,
  // elapses; then the reply is a null array. Nothing may have been changed or replied. False if the
  // command may not block: it must reply immediately.
  template <class T>
  bool WaitFor(Args wanted, Millis timeout);

  // Like WaitFor(), until the sorted set at `key` has an element in the range, through a change of
  // the key or of the time.
  bool WaitForScores(std::string_view key, const TimedScoreRange& scores, Millis timeout);

  // Like WaitFor(), until the client's writes are acknowledged as `wait` requires. The reply, then
  // or at the timeout, is that of `wait`. Moves from `wait` if the result is true.
  bool WaitForAcknowledgements(std::unique_ptr<AcknowledgementWait>& wait, Millis timeout);

  // Like WaitFor(), until `wait` can be served. `again` is the request that then runs in place of
  // this one: its arguments do not depend on the time at which it runs. Moves from `wait` if the
  // result is true. Unlike there, the command may have made changes that it has propagated.
  bool WaitForEntries(Args keys, Args again, std::unique_ptr<StreamWait>& wait, Millis timeout);

  bool waits() const { return waits_; }

  // Takes the wait; null if the command waited before. May be called once.
  std::unique_ptr<BlockedCommand> TakeWait() { return std::move(wait_); }

  // --- Propagation in place of the request (propagation/effects.h). Call these when the change is
  // made, because keys that are found expired until then are propagated first. ---

  // Whether a journal exists. Without one the functions below do nothing, and their arguments need
  // not be prepared.
  bool Propagates() const;

  // Propagates this request after those of earlier calls.
  void Propagate(std::initializer_list<std::string_view> words);
  void Propagate(Args words);

  // Propagates a request that only zsetd understands and other servers ignore
  // (propagation/private_commands.h).
  void PropagatePrivate(Args words);

  // Propagates a request in two forms: zsetd runs the first one, other servers the second.
  void PropagateTwice(Args for_zsetd, Args for_others);

  // Propagates the request itself although it changed nothing, or in addition to other requests.
  void PropagateRequest();

  // Other requests are propagated in place of this one. The functions above call this.
  void MarkPropagated() { is_propagated_ = true; }
  bool is_propagated() const { return is_propagated_; }

  // Propagates a request word by word. Call MarkPropagated(), too.
  Effects& effects() { return effects_; }

  // Propagates the request as a message: to replicas only.
  void PropagateMessage();

  // Suspends the command: the engine continues it with Scripting::Continue(). Nothing may have been
  // replied.
  void Suspend() { caller.suspended = true; }

  // Whether the command may be served from that key: any at first, but after a wait only the one
  // that ended it.
  bool MayServe(std::string_view key) const { return !ready_key_ || *ready_key_ == key; }

  // Whether the command has waited and runs again.
  bool RunsAgain() const { return ready_key_.has_value(); }

  // Whether the command replied an error.
  bool refused() const { return refused_; }

  // Opens the value at `key` for reading: null, or nullopt for a string, if the key does not exist;
  // WRONGTYPE if it has another type. Counts a hit or a miss, and reports a missing key.
  template <class T>
  auto Find(std::string_view key) {
    return ValueOf<T>(args.ok() ? keys.Find(key) : nullptr);
  }

  // Like Find(), but counts and reports nothing: for a value that the command is about to change.
  template <class T>
  auto Peek(std::string_view key) {
    return ValueOf<T>(args.ok() ? keys.Peek(key) : nullptr);
  }

  // The value at `key` to be changed, or none. `event` is the name of the change in notifications.
  template <class T>
  Edit<T> Open(std::string_view key, KeyEvent event);

  // Like Open(), but creates an empty value for a missing key, which is removed silently if it
  // stays empty. Not for strings, for which the empty value is valid.
  template <class T>
  Edit<T> OpenOrMake(std::string_view key, KeyEvent event);

 private:
  static Keys::Access AccessOf(const Caller& caller, const Command& row,
                               SharedRead* shared = nullptr) {
    const bool in_writing_transaction = caller.transaction.open && caller.transaction.may_write;
    const bool is_use = !row.Has(kNoTouch) && (!caller.no_touch || row.Has(kAlwaysTouch));
    return {.writes = row.Has(kWrite) || in_writing_transaction,
            .touch = is_use ? Database::Touch::kYes : Database::Touch::kNo,
            .slot = row.has_one_key ? caller.slot : KnownSlot(),
            .shared = shared};
  }

  // Returns the entry's value, or null. Refuses another type.
  template <class T>
  auto ValueOf(const Entry* entry);

  bool PutAside(Args wanted, Millis timeout) { return PutAside(wanted, argv_, timeout); }
  bool PutAside(Args wanted, Args again, Millis timeout);

  Metrics& metrics_;
  Effects& effects_;
  Args argv_;
  std::optional<std::string_view> ready_key_;
  std::unique_ptr<BlockedCommand> wait_;
  bool refused_ = false;
  bool is_propagated_ = false;
  bool waits_ = false;
};

template <class T>
bool Call::WaitFor(Args wanted, Millis timeout) {
  if (!PutAside(wanted, timeout)) return false;
  if (wait_ != nullptr) wait_->wait = std::make_unique<KeyWait<T>>();
  return true;
}

template <class T>
auto Call::ValueOf(const Entry* entry) {
  using Found = decltype(entry->GetIf<T>());
  if (entry == nullptr) return Found();
  const Found value = entry->GetIf<T>();
  if (!value) args.Refuse(kWrongType);
  return value;
}

template <class T>
Edit<T> Call::Open(std::string_view key, KeyEvent event) {
  Entry* entry = args.ok() ? keys.Open(key) : nullptr;
  if (entry == nullptr) return Edit<T>();
  if (entry->Holds<T>()) return keys.Change<T>(*entry, event);
  args.Refuse(kWrongType);
  return Edit<T>();
}

template <class T>
Edit<T> Call::OpenOrMake(std::string_view key, KeyEvent event) {
  static_assert(!std::is_same_v<T, ByteString>);
  Edit<T> edit = Open<T>(key, event);
  if (!edit && args.ok()) edit = keys.Make<T>(key, event);
  return edit;
}

}  // namespace zsetd
