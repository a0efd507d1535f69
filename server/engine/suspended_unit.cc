#include "server/engine/suspended_unit.h"

#include <cassert>
#include <utility>

#include "server/engine/acl/access_control.h"
#include "server/engine/client/client.h"
#include "server/engine/command_run.h"
#include "server/engine/engine.h"
#include "server/engine/services/scripting.h"

namespace zsetd {

SuspendedUnit::SuspendedUnit(Engine& engine) : engine_(engine) {}

SuspendedUnit::~SuspendedUnit() = default;

std::string_view SuspendedUnit::BusyError() const {
  const std::optional<RunningScript> running = engine_.services().scripting->Running();
  return running && running->is_function
             ? "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN "
               "NOSAVE."
             : "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN "
               "NOSAVE.";
}

void SuspendedUnit::Start(Client& client, CommandRun& run) {
  assert(client.suspended);
  if (command_) return;
  command_ = SuspendedCommand{.client = &client,
                              .command = &run.call().command,
                              .argv = OwnedArgs(run.call().argv()),
                              .reply = {},
                              .took = run.took()};
  engine_.mode().set_suspended(true);
}

void SuspendedUnit::Keep(Unit unit) {
  assert(IsOn() && !unit_);
  unit_.emplace(std::move(unit));
}

void SuspendedUnit::KeepReply(size_t reply_start) {
  OutputBuffer& buffer = client().output.buffer;
  if (buffer.size() == reply_start) return;
  command_->reply.Append(buffer.view().substr(reply_start));
  buffer.Truncate(reply_start);
}

// The reply may be long, so it is not copied: it becomes the client's buffer for one slice, and the
// earlier output waits in the meantime.
std::optional<Unit> SuspendedUnit::Continue() {
  assert(IsOn());
  Client& client = *command_->client;
  OutputBuffer earlier(std::move(client.output.buffer));
  client.output.buffer = std::move(command_->reply);
  std::optional<Unit> unit = RunSlice(client);
  if (!unit) {
    command_->reply = std::move(client.output.buffer);
    client.output.buffer = std::move(earlier);
    return unit;
  }
  client.reply.OnInserted(earlier.size());
  earlier.Take(client.output.buffer);
  client.output.buffer = std::move(earlier);
  return unit;
}

std::optional<Unit> SuspendedUnit::RunSlice(Client& client) {
  client.reply.Begin();
  engine_.clock().Restart();
  CommandRun run(engine_, CommandRun::Origin::kRequest,
                 {client, *command_->command, command_->argv.argv()}, command_->took);
  if (run.Resume() == CommandRun::Result::kSuspended) {
    command_->took = run.took();
    return std::nullopt;
  }
  Unit unit = std::move(*unit_);
  unit_.reset();
  const OwnedArgs argv = std::move(std::exchange(command_, std::nullopt)->argv);
  engine_.mode().set_suspended(false);
  if (client.transaction.open) ContinueTransaction(client);
  if (!client.suspended) return unit;
  Keep(std::move(unit));
  return std::nullopt;
}

void SuspendedUnit::ContinueTransaction(Client& client) {
  constexpr std::string_view kExec[] = {"exec"};
  CommandRun run(engine_, CommandRun::Origin::kRequest,
                 {client, *engine_.commands().FindOriginal("exec"), kExec});
  if (run.Run() == CommandRun::Result::kSuspended) Start(client, run);
}

// The stand-in receives nothing any more that the rest of the transaction may have asked for.
void SuspendedUnit::Forget() {
  if (stand_in_ == nullptr) return;
  engine_.notifier().Forget(*stand_in_);
  stand_in_.reset();
}

void SuspendedUnit::OnLeave(Client& client) {
  if (command_ && command_->client == &client) Replace(client);
}

// The unit continues without the client that requested it; its reply is discarded.
void SuspendedUnit::Replace(Client& leaving) {
  stand_in_ = std::make_unique<Client>(leaving.id, leaving.address, leaving.local_address,
                                       engine_.store().now(), [] {});
  stand_in_->database = leaving.database;
  AccessControl::ActAs(*stand_in_, *leaving.user());
  stand_in_->no_touch = leaving.no_touch;
  stand_in_->name = leaving.name;
  stand_in_->reply.set_protocol(leaving.reply.protocol());
  stand_in_->reply.set_most_bytes(engine_.clients().MostReplyBytes());
  stand_in_->output.reply_mode = ClientOutput::ReplyMode::kOff;
  stand_in_->suspended = true;
  stand_in_->connection.close_now = true;  // it receives no messages
  stand_in_->transaction = std::move(leaving.transaction);
  leaving.transaction = Transaction();
  command_->client = stand_in_.get();
}

}  // namespace zsetd
