#include "server/engine/port/request_port.h"

#include "server/engine/acl/input_limits.h"
#include "server/engine/client/client.h"
#include "server/engine/client/traffic.h"
#include "server/engine/engine.h"

namespace zsetd {

uint64_t RequestPort::NextClientId() { return engine().clients().NextId(); }

void RequestPort::Attach(Client& client) { engine().clients().Attach(client); }

void RequestPort::Detach(Client& client) { engine().clients().Detach(client); }

bool RequestPort::Begin(Client& client, const Traffic& traffic) {
  ClientConnection& connection = client.connection;
  connection.received += traffic.received;
  connection.sent += traffic.sent;
  connection.input_bytes = traffic.input_bytes;
  connection.input_capacity = traffic.input_capacity;
  client.output.sending_bytes = traffic.unsent_bytes;
  client.output.sending_capacity = traffic.unsent_capacity;
  if (client.output.UnsentBytes() == 0) client.output.pushed_bytes = 0;
  if (traffic.received + traffic.sent > 0) connection.last_active = now();
  if (traffic.sent > 0) client.NoteMemory();
  if (traffic.received == 0) return true;
  const bool sends_too_much = SendsTooMuch(client, engine().settings(), engine().access());
  if (sends_too_much) ++engine().metrics().stats().flooding_disconnections;
  return !sends_too_much;
}

RequestLimits RequestPort::LimitsOf(const Client& client) const {
  return RequestLimitsFor(client, engine().settings(), engine().access());
}

void RequestPort::Prefetch(const Client& client, std::span<const Args> requests) {
  const Database& database = engine().store().database(client.database);
  prefetcher_.Add(database, engine().commands(), requests);
}

void RequestPort::FetchPrefetched() {
  assert(!in_network_);
  prefetcher_.Fetch();
}

void RequestPort::StartServing(Millis now) { engine().executor().BeginBatch(now); }

void RequestPort::Execute(Client& client, Args argv) {
  ++requests_;
  engine().executor().Execute(client, argv);
}

void RequestPort::ContinueReply(Client& client) { engine().executor().ContinueReply(client); }

void RequestPort::OnMemoryChange(Client& client) { engine().clients().OnMemoryChange(client); }

Release RequestPort::ReleaseOf(const Client& client) const {
  return engine().reply_holds().ReleaseOf(client);
}

// A replica that takes a snapshot may have nothing unsent and still be too slow.
bool RequestPort::IsStalled(Client& client) {
  const bool has_read_all = client.output.UnsentBytes() == 0 && !client.IsReplica();
  if (has_read_all || !engine().clients().IsStalled(client)) return false;
  ++engine().metrics().stats().stalled_disconnections;
  return true;
}

Millis RequestPort::now() const { return engine().store().now(); }

bool RequestPort::IsMemoryShort() const { return engine().store().ExceedsLimit(); }

}  // namespace zsetd
