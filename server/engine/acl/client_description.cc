#include "server/engine/acl/client_description.h"

#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include "protocol/text/number_text.h"
#include "server/engine/acl/acl_user.h"
#include "server/engine/client/client_memory.h"

namespace zsetd {
namespace {

int64_t SecondsSince(Millis then, Millis now) {
  return std::chrono::duration_cast<std::chrono::seconds>(now - then).count();
}

// Letters as Redis has them, N where no other holds.
std::string Flags(const Client& client) {
  const TrackingMode& tracking = client.tracking();
  const std::array<std::pair<bool, char>, 15> kinds = {{
      {client.IsReplica(), 'S'},
      {IsMaster(client), 'M'},
      {client.monitors(), 'O'},
      {client.IsSubscriber(), 'P'},
      {client.transaction.open, 'x'},
      {client.IsWaiting(), 'b'},
      {tracking.on, 't'},
      {tracking.redirect_broken, 'R'},
      {tracking.broadcast, 'B'},
      {client.transaction.touched, 'd'},
      {client.connection.close_after_reply, 'c'},
      {client.IsOnUnixSocket(), 'U'},
      {client.read_only, 'r'},
      {client.no_evict, 'e'},
      {client.no_touch, 'T'},
  }};
  std::string flags;
  for (const auto& [holds, letter] : kinds) {
    if (holds) flags += letter;
  }
  return flags.empty() ? "N" : flags;
}

// One line of name=value pairs.
class Fields {
 public:
  void Add(std::string_view name, std::string_view value) {
    if (!line_.empty()) line_ += ' ';
    line_.append(name).append("=").append(value);
  }
  void Add(std::string_view name, int64_t value) { Add(name, IntegerText(value)); }

  std::string line() const { return line_ + '\n'; }

 private:
  std::string line_;
};

void AddIdentity(const Client& client, Millis now, Fields& fields) {
  fields.Add("id", client.id);
  fields.Add("addr", client.address);
  fields.Add("laddr", client.local_address);
  fields.Add("fd", client.connection.descriptor);
  fields.Add("name", client.name);
  fields.Add("age", SecondsSince(client.connection.connected_at, now));
  fields.Add("idle", SecondsSince(client.connection.last_active, now));
}

void AddState(const Client& client, Fields& fields) {
  const Transaction& transaction = client.transaction;
  fields.Add("flags", Flags(client));
  fields.Add("db", client.database);
  fields.Add("sub", client.listens_to(ChannelKind::kChannel).size());
  fields.Add("psub", client.listens_to(ChannelKind::kPattern).size());
  fields.Add("ssub", client.listens_to(ChannelKind::kShardChannel).size());
  fields.Add("multi", transaction.open ? static_cast<int64_t>(transaction.queue.size()) : -1);
  fields.Add("watch", transaction.watched().size());
}

// In Redis, replies fill a buffer of 16 KB first, and then a list. Here they are in one place:
// unsent bytes beyond 16 KB are reported as the list, and the rest of the allocation as the buffer.
void AddMemory(const Client& client, Fields& fields) {
  const size_t unsent = client.output.UnsentBytes();
  const size_t list = ClientOutput::Counted(unsent);
  const size_t reply_buffer = OutputCapacity(client) - list;
  fields.Add("qbuf", client.connection.input_bytes);
  fields.Add("qbuf-free", client.connection.input_capacity - client.connection.input_bytes);
  fields.Add("argv-mem", WaitingBytes(client));
  fields.Add("multi-mem", QueueBytes(client));
  fields.Add("rbs", reply_buffer);
  fields.Add("rbp", reply_buffer);
  fields.Add("obl", unsent - list);
  fields.Add("oll", list > 0 ? 1 : 0);
  fields.Add("omem", list);
  fields.Add("tot-mem", BytesUsedBy(client));
}

void AddRest(const Client& client, Fields& fields) {
  fields.Add("events", client.output.sending_bytes > 0 ? "rw" : "r");
  fields.Add("cmd", client.last_command);
  fields.Add("user", IsMaster(client) ? "(superuser)" : client.user()->name());
  fields.Add("redir", RedirectOf(client));
  fields.Add("resp", static_cast<int64_t>(client.reply.protocol()));
  fields.Add("lib-name", client.lib_name);
  fields.Add("lib-ver", client.lib_version);
  fields.Add("io-thread", client.connection.io_thread);
  fields.Add("tot-net-in", client.connection.received);
  fields.Add("tot-net-out", client.connection.sent);
  fields.Add("tot-cmds", client.commands_run);
}

}  // namespace

bool IsMaster(const Client& client) { return client.user() == nullptr; }

int64_t RedirectOf(const Client& client) {
  return client.tracking().on ? static_cast<int64_t>(client.tracking().redirect) : -1;
}

std::string ClientLine(const Client& client, Millis now) {
  Fields fields;
  AddIdentity(client, now, fields);
  AddState(client, fields);
  AddMemory(client, fields);
  AddRest(client, fields);
  return fields.line();
}

}  // namespace zsetd
