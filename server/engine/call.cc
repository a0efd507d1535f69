#include "server/engine/call.h"

#include <cassert>
#include <utility>
#include <vector>

#include "server/engine/client/acknowledgement_wait.h"
#include "server/engine/client/client.h"
#include "server/engine/client/score_wait.h"
#include "server/engine/client/stream_wait.h"
#include "server/engine/metrics/metrics.h"
#include "server/engine/propagation/effects.h"
#include "server/engine/propagation/private_commands.h"
#include "server/engine/store/shared_read.h"

namespace zsetd {

bool Call::Refused() {
  if (!args.ok()) Fail(args.status());
  return refused_;
}

// Errors are counted, so a shared run that fails runs again alone.
void Call::Fail(std::string_view line) {
  if (IsPutOff()) [[unlikely]]
    return;
  metrics_.CountError(line);
  FailCounted(line);
}

void Call::FailCounted(std::string_view line) {
  reply.Error(line);
  refused_ = true;
}

bool Call::IsPutOff() {
  SharedRead* const shared = keys.shared();
  if (shared == nullptr) return false;
  shared->must_run_alone = true;
  refused_ = true;
  return true;
}

bool Call::Propagates() const { return effects_.IsOn(); }

void Call::Propagate(Args words) {
  if (!Propagates()) return;
  effects_.Add(caller.database, words);
  MarkPropagated();
}

void Call::Propagate(std::initializer_list<std::string_view> words) {
  Propagate(Args(words.begin(), words.size()));
}

void Call::PropagatePrivate(Args words) {
  if (Propagates()) Propagate({"ECHO", WrapPrivateCommand(words)});
}

void Call::PropagateTwice(Args for_zsetd, Args for_others) {
  if (!Propagates()) return;
  Propagate({"ECHO", WrapReplacement(for_zsetd)});
  Propagate(for_others);
}

// By its original name, whatever the client called it.
void Call::PropagateRequest() {
  if (!Propagates()) return;
  effects_.Add(caller.database, command.name.substr(0, command.name.find('|')), argv_.subspan(1));
  MarkPropagated();
}

void Call::PropagateMessage() {
  if (!effects_.TakesMessages()) return;
  std::vector<std::string_view> words(argv_.begin(), argv_.end());
  words[0] = command.name;
  effects_.AddMessage(words);
}

void Call::ReplyAtLength(std::unique_ptr<LongReply> rest) {
  assert(rest != nullptr);
  assert(keys.shared() == nullptr);
  if (caller.MayBlock()) {
    assert(caller.client()->output.long_reply == nullptr);  // no request runs while it is set
    caller.client()->output.long_reply = std::move(rest);
    return;
  }
  while (rest->WriteNext(reply) && !reply.IsFull()) {
  }
}

bool Call::WaitForScores(std::string_view key, const TimedScoreRange& scores, Millis timeout) {
  if (!PutAside({&key, 1}, timeout)) return false;
  if (wait_ != nullptr) wait_->wait = std::make_unique<ScoreWait>(scores);
  return true;
}

bool Call::WaitForAcknowledgements(std::unique_ptr<AcknowledgementWait>& wait, Millis timeout) {
  if (!PutAside({}, timeout)) return false;
  assert(wait_ != nullptr);  // the command does not run again, because it has no keys
  wait_->wait = std::move(wait);
  return true;
}

bool Call::WaitForEntries(Args wanted, Args again, std::unique_ptr<StreamWait>& wait,
                          Millis timeout) {
  if (!PutAside(wanted, again, timeout)) return false;
  if (wait_ != nullptr) wait_->wait = std::move(wait);
  return true;
}

// A command that runs again keeps its wait.
bool Call::PutAside(Args wanted, Args again, Millis timeout) {
  assert(keys.shared() == nullptr);
  if (!caller.MayBlock()) return false;
  waits_ = true;
  if (caller.client()->blocked) return true;
  wait_ = std::make_unique<BlockedCommand>(BlockedCommand{
      .command = &command, .argv = OwnedArgs(again), .keys = {}, .until = std::nullopt});
  for (const std::string_view key : wanted) wait_->keys.emplace_back(caller.database, key);
  if (timeout > Millis(0)) wait_->until = now() + timeout;
  return true;
}

}  // namespace zsetd
