#include "server/engine/applier.h"

#include <cassert>
#include <optional>
#include <string>
#include <utility>

#include "server/engine/admin_call.h"
#include "server/engine/propagation/own_effects.h"
#include "server/engine/scripting.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

User Unrestricted(const CommandTable& commands) {
  User user("", commands, /*all_channels=*/true);
  for (const std::string_view modifier : {"on", "allkeys", "allcommands", "allchannels"}) {
    const absl::Status status = user.Apply(modifier, /*all_channels=*/true);
    assert(status.ok());
  }
  assert(user.MayDoAll());
  return user;
}

// What is in no log and in no stream: it acts on the server or on a connection, not on data.
// Scripts of old servers are loaded by SCRIPT LOAD.
bool IsPropagated(const Command& command) {
  if (command.Has(kAdmin)) return false;
  return command.Has(kWrite) || !command.Has(kNoScript) ||
         command.group == CommandGroup::kScripting;
}

constexpr size_t kMostEchoedBytes = 64;  // of a request, in an error

absl::Status Unusable(Args request, std::string_view reason) {
  return Refusal("ERR " + Quoted(request[0], kMostEchoedBytes) + ": " + std::string(reason));
}

bool IsPlain(Args request, std::string_view name) {
  return request.size() == 1 && EqualsIgnoringCase(request[0], name);
}

}  // namespace

// To commands it is a script: they reply at once, and do not block.
Applier::Applier(Engine& engine)
    : engine_(engine),
      user_(Unrestricted(engine.commands())),
      client_(0, "", "", engine.store().now(), [] {}) {
  AccessControl::ActAs(client_, user_);
  client_.in_script = true;
}

Applier::~Applier() {
  if (active_) End();
}

void Applier::Begin() {
  assert(!active_);
  active_ = true;
  engine_.effects().Mute(true);
  engine_.store().SetNothingDue(true);
}

void Applier::End() {
  assert(active_);
  active_ = false;
  engine_.store().SetNothingDue(false);
  engine_.effects().Mute(false);
}

void Applier::Restart(int database) {
  assert(database >= 0 && database < engine_.store().database_count());
  in_transaction_ = false;
  queue_.clear();
  client_.database = database;
}

absl::Status Applier::Apply(Args request) {
  assert(active_ && !request.empty());
  if (IsOwnEffect(request)) {
    const std::optional<OwnedArgs> own = UnwrapOwnEffect(request);
    if (!own) return Unusable(request, "what it carries for zsetd is damaged");
    return in_transaction_ ? Queue(own->argv()) : Run(own->argv());
  }
  if (IsPlain(request, "multi")) {
    if (std::exchange(in_transaction_, true)) return Unusable(request, "MULTI within MULTI");
    return absl::OkStatus();
  }
  if (IsPlain(request, "exec")) {
    if (!std::exchange(in_transaction_, false)) return Unusable(request, "EXEC without MULTI");
    return ApplyQueue();
  }
  return in_transaction_ ? Queue(request) : Run(request);
}

absl::Status Applier::Queue(Args request) {
  queue_.emplace_back(request);
  return absl::OkStatus();
}

absl::Status Applier::ApplyQueue() {
  absl::Status first_error;
  for (const OwnedArgs& queued : std::exchange(queue_, {})) {
    const absl::Status status = Run(queued.argv());
    if (first_error.ok()) first_error = status;
  }
  return first_error;
}

// The table knows commands by their present names; what is propagated has the original ones.
absl::Status Applier::Run(Args request) {
  const Command* const command = engine_.commands().FindOriginal(request);
  if (command == nullptr || command->run == nullptr) return Unusable(request, "unknown command");
  if (!IsPropagated(*command)) return Unusable(request, "no server propagates this");
  if (!command->AcceptsCount(request.size())) return Unusable(request, "wrong number of arguments");
  client_.output.buffer.Clear();
  client_.output.reply.Begin();
  client_.last_command = command->name;
  ++client_.commands_run;
  AdminCall call(engine_, client_, *command, request);
  command->run(call);
  while (client_.suspended) {
    client_.suspended = false;
    engine_.services().scripting->Continue(call);
  }
  if (!client_.output.reply.failed()) return absl::OkStatus();
  return Unusable(request, client_.output.buffer.view());
}

}  // namespace zsetd
