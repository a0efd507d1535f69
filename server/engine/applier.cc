#include "server/engine/applier.h"

#include <cassert>
#include <optional>
#include <string>
#include <utility>

#include "protocol/rdb/rdb_format.h"
#include "server/engine/command_run.h"
#include "server/engine/engine.h"
#include "server/engine/propagation/private_commands.h"
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

// Commands that no log and no stream contains: they act on the server or on a connection, not on
// data. Old servers propagate SCRIPT LOAD.
bool IsPropagated(const Command& command) {
  if (command.name == "cluster|syncslots") return true;  // a note of a master for its replicas
  if (command.Has(kAdmin)) return command.Has(kWrite);   // PFDEBUG
  return command.Has(kWrite) || !command.Has(kNoScript) ||
         command.group == CommandGroup::kScripting;
}

constexpr size_t kMostEchoedBytes = 64;  // of a request, in an error

absl::Status Unusable(Args request, std::string_view reason) {
  return Refusal("ERR " + Quoted(request[0], kMostEchoedBytes) + ": " + std::string(reason));
}

// Returns whether RESTORE brings a value that this server cannot hold.
bool RestoresForeignValue(Args request) {
  constexpr size_t kPayload = 3;
  if (!EqualsIgnoringCase(request[0], "restore")) return false;
  if (request.size() <= kPayload || request[kPayload].empty()) return false;
  switch (static_cast<RdbType>(request[kPayload].front())) {
    case RdbType::kModuleOfOld:
    case RdbType::kModule:
      return true;
    default:
      return false;
  }
}

bool Renames(Args request) {
  const bool renames =
      EqualsIgnoringCase(request[0], "rename") || EqualsIgnoringCase(request[0], "renamenx");
  return renames && request.size() == 3;
}

bool IsPlain(Args request, std::string_view name) {
  return request.size() == 1 && EqualsIgnoringCase(request[0], name);
}

}  // namespace

Applier::Applier(Engine& engine, Statistics statistics)
    : engine_(engine),
      statistics_(statistics),
      user_(Unrestricted(engine.commands())),
      caller_(0, "", "") {
  AccessControl::ActAs(caller_, user_);
}

Applier::~Applier() {
  if (active_) End();
}

void Applier::Begin() {
  assert(!active_);
  active_ = true;
  engine_.clock().Restart();
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
  skips_next_ = false;
  queue_.clear();
  caller_.database = database;
}

absl::Status Applier::Apply(Args request) {
  assert(active_ && !request.empty());
  if (std::exchange(skips_next_, false)) return absl::OkStatus();
  if (IsPrivateCommand(request)) {
    const std::optional<OwnedArgs> own = UnwrapPrivateCommand(request);
    if (!own) return Unusable(request, "what it carries for zsetd is damaged");
    skips_next_ = IsReplacement(request);
    return in_transaction_ ? Queue(own->argv()) : Run(own->argv());
  }
  if (IsPlain(request, "multi")) {
    if (std::exchange(in_transaction_, true)) return Unusable(request, "MULTI within MULTI");
    Count(request);
    return absl::OkStatus();
  }
  if (IsPlain(request, "exec")) {
    if (!std::exchange(in_transaction_, false)) return Unusable(request, "EXEC without MULTI");
    const absl::Status status = ApplyQueue();
    Count(request);
    return status;
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

// A request's time is that since the end of the one before it, as for clients.
void Applier::Count(Args request) {
  const Command* const command = engine_.commands().FindOriginal(request);
  if (command == nullptr || statistics_ == Statistics::kLeaves) return;
  Metrics& metrics = engine_.metrics();
  const Millis now = engine_.store().now();
  const Micros took = engine_.clock().EndCommand();
  metrics.CountRun(took);
  metrics.CountCall(caller_, *command, request, took, now);
  metrics.RecordLatency(*command, took, now);
}

bool Applier::LeavesOut(Args request) const {
  if (!engine_.settings().rdb_skip_unknown) return false;
  const Command* const command = engine_.commands().FindOriginal(request);
  return command == nullptr || command->run == nullptr;
}

// A key that does not exist here and was renamed was left out.
bool Applier::IsSkipped(Args request) const {
  if (!engine_.settings().rdb_skip_unknown) return false;
  if (LeavesOut(request) || RestoresForeignValue(request)) return true;
  return Renames(request) && engine_.store().database(caller_.database).Find(request[1]) == nullptr;
}

// The key that RESTORE or RENAME has replaced does not keep its old value.
absl::Status Applier::Skip(Args request) {
  if (skipped_++ == 0) first_skipped_ = request[0].substr(0, kMostEchoedBytes);
  const bool is_restore = RestoresForeignValue(request);
  if (!is_restore && !Renames(request)) return absl::OkStatus();
  const std::string_view remove[] = {"DEL", request[is_restore ? 1 : 2]};
  return Run(remove);
}

// The table has the present names of commands; propagated requests have the original ones.
absl::Status Applier::Run(Args request) {
  if (IsSkipped(request)) return Skip(request);
  const Command* const command = engine_.commands().FindOriginal(request);
  if (command == nullptr || command->run == nullptr) {
    return Unusable(request, "unknown command. With rdb-skip-unknown yes it is left out");
  }
  if (!IsPropagated(*command)) return Unusable(request, "no server propagates this");
  if (!command->AcceptsCount(request.size())) return Unusable(request, "wrong number of arguments");
  caller_.replies.Clear();
  caller_.reply.Begin();
  last_command_ = command->name;
  ++commands_run_;
  const auto origin = statistics_ == Statistics::kCounts ? CommandRun::Origin::kReplicated
                                                         : CommandRun::Origin::kReplayed;
  CommandRun run(engine_, origin, {caller_, *command, request});
  CommandRun::Result result = run.Run();
  while (result == CommandRun::Result::kSuspended) result = run.Resume();
  if (!caller_.reply.failed()) return absl::OkStatus();
  if (RestoresForeignValue(request)) {
    return Unusable(request,
                    "this server cannot hold values of this type. With rdb-skip-unknown "
                    "yes it is left out");
  }
  return Unusable(request, caller_.replies.view());
}

}  // namespace zsetd
