// The lifetime of clients: attaching, detaching, and which of them are closed.

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/engine/acl/input_limits.h"
#include "server/engine/engine.h"

namespace zsetd {

void Engine::Attach(Client& client) {
  Reset(client);
  clients_.emplace(client.id, &client);
  client.reply.set_most_bytes(MostReplyBytes());
  client.weights = &weights_;
  client.NoteMemory();
  ++metrics_.stats().connections_received;
}

void Engine::Detach(Client& client) {
  watches_.RemoveAll(client);
  blocked_clients_.Remove(client);
  pause_.Remove(client);
  StopTracking(client);
  EndLongReply(client);
  monitors_.Remove(client);
  channels_.RemoveAll(client);
  if (suspended_ && suspended_->client == &client) ReplaceSuspendedClient(client);
  weights_.Remove(client);
  client.weights = nullptr;
  clients_.erase(client.id);
}

void Engine::End(Client& client) {
  client.executing ? void(client.close_after_reply = true) : Disconnect(client);
}

void Engine::Disconnect(Client& client) {
  Detach(client);
  client.DropBuffers();
  CloseNow(client);
}

void Engine::CloseNow(Client& client) {
  client.close_now = true;
  client.Wake();
}

void Engine::Reset(Client& client) {
  EndTransaction(client);
  StopTracking(client);
  monitors_.Remove(client);
  channels_.RemoveAll(client);
  client.ResetState();
  access_.AssignDefaultUser(client);
}

void Engine::EndTransaction(Client& client) {
  watches_.RemoveAll(client);
  client.transaction = Transaction();
}

void Engine::EndLongReply(Client& client) {
  const size_t bytes = client.LongReplyBytes();
  FreeLater(std::shared_ptr<LongReply>(std::move(client.long_reply)), bytes);
}

void Engine::StopTracking(Client& client) { FreeLater(tracking_.Stop(client)); }

// What a long reply keeps counts as unsent: in Redis the whole reply, which is longer, would be.
//
// No request is run while much is unsent, but messages come from others: so those of a client that
// subscribes to nothing, of MONITOR and CLIENT TRACKING, have the limits of one that does.
bool Engine::IsStalled(Client& client) const {
  const OutputLimits& limits = settings_.client_output_buffer_limit;
  const size_t unsent = Client::CountedOutput(client.UnsentBytes() + client.LongReplyBytes());
  if (LeavesTooMuchUnread(client, access_)) return true;
  if (client.IsSubscriber()) return client.output_watch.Exceeds(limits.pubsub, unsent, now_);
  return client.output_watch.Exceeds(limits.normal, unsent, now_) ||
         client.push_watch.Exceeds(limits.pubsub, Client::CountedOutput(client.UnsentPushBytes()),
                                   now_);
}

void Engine::CloseForOutputLimit(Client& client) {
  if (!client.RepliesEnabled()) return;
  host_.log("Closing " + client.address + ": a reply exceeds client-output-buffer-limit");
  ++metrics_.stats().stalled_disconnections;
  CloseNow(client);
}

// A web page can make a browser send a POST request to any address that the browser can reach: its
// lines must not be run as commands.
void Engine::RejectHttp(Client& client) {
  CloseNow(client);
  if (browser_told_at_ && now_ - *browser_told_at_ < std::chrono::minutes(1)) return;
  browser_told_at_ = now_;
  host_.log(
      "Closing " + client.address +
      ": possible cross-protocol attack, the client sent an HTTP request. Further ones are not "
      "logged for a minute");
}

bool Engine::IsIdle(const Client& client) const {
  const bool listens = client.IsSubscriber() || client.monitors;
  if (settings_.timeout == 0 || listens || client.IsWaiting()) return false;
  return now_ - client.last_active > std::chrono::seconds(settings_.timeout);
}

// At most `hz` times a second, because it takes time for each client; there may be a tick for each
// deadline.
void Engine::MaintainClients() {
  if (!maintains_clients_) return;
  if (std::chrono::abs(now_ - clients_maintained_at_) < Millis(1000) / settings_.hz) return;
  clients_maintained_at_ = now_;
  std::vector<Client*> idle;  // separate, because a disconnected client leaves clients_
  for (const auto& [id, client] : clients_) {
    if (IsIdle(*client)) idle.push_back(client);
    if (IsStalled(*client) || client->HoldsIdleBuffers(now_)) client->Wake();
    if (client->long_reply) client->NoteMemory();  // its part of a shared copy may have grown
  }
  for (Client* client : idle) Disconnect(*client);
  copies_.Sweep();
}

}  // namespace zsetd
