#include "server/engine/clients.h"

#include <cassert>
#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "server/engine/acl/input_limits.h"

namespace zsetd {

void Clients::Attach(Client& client) {
  assert(!by_id_.contains(client.id));
  Reset(client);
  by_id_.emplace(client.id, &client);
  client.reply.set_most_bytes(MostReplyBytes());
  client.limiter_ = this;
  weights_.Add(client);
  ++metrics_.stats().connections_received;
}

void Clients::Detach(Client& client) {
  notifier_.Forget(client);
  pause_.Remove(client);
  EndLongReply(client);
  on_leave_(client);
  weights_.Remove(client);
  client.limiter_ = nullptr;
  by_id_.erase(client.id);
}

void Clients::End(Client& client) {
  if (!client.executing) return Disconnect(client);
  client.connection.close_after_reply = true;
}

void Clients::Disconnect(Client& client) {
  Detach(client);
  client.DropBuffers();
  CloseNow(client);
}

void Clients::CloseNow(Client& client) {
  client.connection.close_now = true;
  client.mailbox.Wake();
}

void Clients::Reset(Client& client) {
  notifier_.EndTransaction(client);
  notifier_.Unsubscribe(client);
  client.ResetState();
  access_.AssignDefaultUser(client);
}

void Clients::EndLongReply(Client& client) {
  const size_t bytes = client.output.LongReplyBytes();
  store_.FreeLater(std::shared_ptr<LongReply>(std::move(client.output.long_reply)), bytes);
}

// Output that is shared with other replicas, or kept for reconnecting ones, does not count.
size_t Clients::KeptFor(const Client& replica) const {
  assert(replica.IsReplica());
  const size_t kept = replica.output.source->BytesKept();
  const auto backlog = static_cast<size_t>(settings_.repl_backlog_size);
  return replica.output.UnsentBytes() + (kept <= backlog ? 0 : kept);
}

// Whether any limit of the client is exceeded, according to `exceeds(watch, limit, bytes)`.
//
// The data of a long reply counts as unsent: in Redis the whole reply, which is longer, counts.
//
// No request is run while much is unsent, but messages come from others: so those of a client that
// subscribes to nothing, of MONITOR and CLIENT TRACKING, have the limits of one that does.
template <class Exceeds>
bool Clients::ExceedsLimit(Client& client, Exceeds exceeds) const {
  const OutputLimits& limits = settings_.client_output_buffer_limit;
  ClientOutput& output = client.output;
  const size_t unsent = ClientOutput::Counted(output.UnsentBytes() + output.LongReplyBytes());
  if (LeavesTooMuchUnread(client, access_)) return true;
  if (client.IsReplica()) return exceeds(output.watch, limits.replica, KeptFor(client));
  if (client.IsSubscriber()) return exceeds(output.watch, limits.pubsub, unsent);
  return exceeds(output.watch, limits.normal, unsent) ||
         exceeds(output.push_watch, limits.pubsub, ClientOutput::Counted(output.UnsentPushBytes()));
}

bool Clients::IsStalled(Client& client) const {
  return ExceedsLimit(client, [this](OutputWatch& watch, const OutputLimit& limit, size_t unsent) {
    return watch.Exceeds(limit, unsent, host_.stopwatch);
  });
}

// One script or transaction may write any number of messages, so the hard limit applies to each.
// The client leaves when its connection is served next: lists of clients are being read now. If its
// own reply is in progress, that stays, and has a limit of its own.
void Clients::OnMessage(Client& client) {
  const auto exceeds = [](const OutputWatch&, const OutputLimit& limit, size_t unsent) {
    return OutputWatch::ExceedsHard(limit, unsent);
  };
  if (!ExceedsLimit(client, exceeds)) return;
  host_.log->Write(LogLevel::kWarning,
                   "Closing " + client.address + ": output buffer limit exceeded, " +
                       std::to_string(client.output.UnsentBytes()) + " bytes are unsent");
  ++metrics_.stats().stalled_disconnections;
  client.output.pending_pushes = OutputBuffer();
  if (!client.ReplyInProgress()) client.output.buffer = OutputBuffer();
  client.NoteMemory();
  CloseNow(client);
}

void Clients::CloseForOutputLimit(Client& client) {
  if (!client.output.RepliesEnabled()) return;
  host_.log->Write(LogLevel::kWarning,
                   "Closing " + client.address + ": a reply exceeds client-output-buffer-limit");
  ++metrics_.stats().stalled_disconnections;
  CloseNow(client);
}

void Clients::CloseForReply(Client& replica) {
  host_.log->Write(LogLevel::kWarning, "Closing replica " + replica.address +
                                           ": it sent a command that has a reply. The last known "
                                           "command: " +
                                           std::string(replica.last_command));
  CloseNow(replica);
}

// A web page can make a browser send a POST request to any address that the browser can reach: its
// lines must not be run as commands.
void Clients::RejectHttp(Client& client) {
  CloseNow(client);
  const Millis now = store_.now();
  if (http_logged_at_ && now - *http_logged_at_ < std::chrono::minutes(1)) return;
  http_logged_at_ = now;
  host_.log->Write(
      LogLevel::kWarning,
      "Closing " + client.address +
          ": possible cross-protocol attack, the client sent an HTTP request. Further ones are not "
          "logged for a minute");
}

bool Clients::IsIdle(const Client& client) const {
  const bool listens = client.IsSubscriber() || client.monitors() || client.IsReplica();
  if (settings_.timeout == 0 || listens || client.IsWaiting()) return false;
  return store_.now() - client.connection.last_active > std::chrono::seconds(settings_.timeout);
}

// At most `hz` times a second, because it takes time for each client; there may be a tick for each
// deadline.
bool Clients::BeginsMaintenance(Millis now) {
  if (!maintains_) return false;
  if (std::chrono::abs(now - maintained_at_) < Millis(1000) / settings_.hz) return false;
  maintained_at_ = now;
  return true;
}

// A client that is closed leaves `by_id_`.
void Clients::Maintain(Micros budget) {
  const Millis now = store_.now();
  if (!IsMaintaining() && !BeginsMaintenance(now)) return;
  const Micros until = host_.stopwatch() + budget;
  auto next = by_id_.lower_bound(std::exchange(maintained_next_, 0));
  while (next != by_id_.end()) {
    const auto [id, client] = *next;
    Maintain(*client, now);
    next = by_id_.upper_bound(id);
    if (next == by_id_.end() || host_.stopwatch() <= until) continue;
    maintained_next_ = next->first;
    return;
  }
  store_.copies().Sweep();
}

void Clients::Maintain(Client& client, Millis now) {
  if (IsIdle(client)) return Disconnect(client);
  if (IsStalled(client) || client.HoldsIdleBuffers(now)) client.mailbox.Wake();
  if (client.output.long_reply) client.NoteMemory();  // its part of a shared copy may have grown
}

size_t Clients::MostReplyBytes() const {
  const int64_t limit = settings_.client_output_buffer_limit.normal.hard_bytes;
  if (limit == 0) return std::numeric_limits<size_t>::max();
  return static_cast<size_t>(limit) + ClientOutput::kUncounted;
}

void Clients::ApplySettings() {
  weights_.Switch(settings_.maxmemory_clients != 0);
  for (const auto& [id, client] : by_id_) {
    client->reply.set_most_bytes(MostReplyBytes());
    client->NoteMemory();
  }
}

size_t Clients::MemoryLimit() const {
  const int64_t limit = settings_.maxmemory_clients;
  if (limit >= 0) return static_cast<size_t>(limit);
  return static_cast<size_t>(static_cast<double>(settings_.maxmemory) / 100 *
                             static_cast<double>(-limit));
}

// A client's memory is freed as soon as it is disconnected, so that no key is evicted for it.
void Clients::EvictWhileTooLarge() {
  const size_t limit = MemoryLimit();
  if (limit == 0) return;
  while (weights_.Sum() > limit) {
    Client* const heaviest = weights_.Heaviest();
    if (heaviest == nullptr) return;
    ++metrics_.stats().evicted_clients;
    host_.log->Write(LogLevel::kWarning,
                     "Closing " + heaviest->address + ": clients use more than " +
                         std::to_string(limit) +
                         " bytes (maxmemory-clients), and this one is among the largest: " +
                         std::to_string(heaviest->weight()) + " bytes");
    Disconnect(*heaviest);
  }
}

void Clients::OnMemoryChange(Client& client) {
  if (!weights_.is_on()) return;
  client.NoteMemory();
  EvictWhileTooLarge();
}

}  // namespace zsetd
