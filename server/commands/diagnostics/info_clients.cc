#include "server/commands/diagnostics/info_clients.h"

#include <algorithm>

namespace zsetd {
namespace {

// What the clients have in common.
struct ClientFigures {
  size_t largest_input = 0;   // bytes of a buffer
  size_t largest_output = 0;  // bytes that wait to be sent
  size_t subscribers = 0;
  size_t watching = 0;
};

ClientFigures Measure(const Engine& engine) {
  ClientFigures figures;
  for (const auto& [id, client] : engine.clients()) {
    figures.largest_input = std::max(figures.largest_input, client->input_capacity);
    figures.largest_output = std::max(figures.largest_output, client->UnsentBytes());
    if (client->IsSubscriber()) ++figures.subscribers;
    if (!client->transaction.watched.empty()) ++figures.watching;
  }
  return figures;
}

}  // namespace

void WriteClients(InfoWriter& info, Engine& engine) {
  const ClientFigures figures = Measure(engine);
  info.Section("Clients");
  info.Add("connected_clients", engine.clients().size());
  info.Add("cluster_connections", 0);
  info.Add("maxclients", engine.settings().maxclients);
  info.Add("client_recent_max_input_buffer", figures.largest_input);
  info.Add("client_recent_max_output_buffer", figures.largest_output);
  info.Add("blocked_clients", engine.blocked_client_count());
  info.Add("tracking_clients", engine.tracking().client_count());
  info.Add("pubsub_clients", figures.subscribers);
  info.Add("watching_clients", figures.watching);
  info.Add("clients_in_timeout_table", engine.blocked_clients().with_deadline());
  info.Add("total_watched_keys", engine.watches().key_count());
  info.Add("total_blocking_keys", engine.blocked_clients().key_count());
  info.Add("total_blocking_keys_on_nokey", 0);  // no command waits for a key to go
}

}  // namespace zsetd
