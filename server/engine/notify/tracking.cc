#include "server/engine/notify/tracking.h"

#include <cassert>
#include <utility>

#include "server/engine/client/client.h"

namespace zsetd {
namespace {

constexpr std::string_view kChannel = "__redis__:invalidate";

// So many readers of one key may have left without being forgotten.
constexpr size_t kSpareReaders = 16;

// More than a read adds, so that reads alone bring the table below a lowered limit. Not all at the
// same time, because the limit may have been lowered by millions.
constexpr size_t kTrimmedPerRead = 2;

void WriteHeader(ReplyWriter& reply) {
  if (reply.protocol() == Protocol::kResp3) {
    reply.Push(2);
    reply.Bulk("invalidate");
  } else {
    reply.Array(3);
    reply.Bulk("message");
    reply.Bulk(kChannel);
  }
}

}  // namespace

std::shared_ptr<TrackingTable> Tracking::NewTable() const {
  return std::make_shared<TrackingTable>(hash_seed_);
}

void Tracking::Start(Client& client, const TrackingMode& mode) {
  assert(mode.on);
  if (!client.tracking().on) ++client_count_;
  std::set<std::string> prefixes = std::move(client.tracking_.prefixes);
  size_t bytes = client.tracking().prefix_bytes;
  for (const std::string& prefix : mode.prefixes) {
    if (!prefixes.insert(prefix).second) continue;
    prefixes_.Add(client, prefix);
    bytes += TrackingPrefixes::BytesFor(prefix.size());
  }
  client.tracking_ = mode;
  client.tracking_.prefixes = std::move(prefixes);
  client.tracking_.prefix_bytes = bytes;
}

void Tracking::BreakRedirect(Client& client) {
  client.tracking_.redirect_broken = true;
  if (client.reply.protocol() == Protocol::kResp2) return;
  client.mailbox.Push([&](ReplyWriter& reply) {
    reply.Push(2);
    reply.Bulk("tracking-redir-broken");
    reply.Integer(static_cast<int64_t>(client.tracking().redirect));
  });
}

void Tracking::SetException(Client& client, bool is_exception) {
  client.tracking_.next_is_exception = is_exception;
}

std::shared_ptr<void> Tracking::Stop(Client& client) {
  if (!client.tracking().on) return nullptr;
  for (const std::string& prefix : client.tracking().prefixes) prefixes_.Remove(client, prefix);
  assert(client_count_ > 0);
  client.tracking_ = TrackingMode();
  if (--client_count_ > 0 || table_->key_count() == 0) return nullptr;
  return std::exchange(table_, NewTable());
}

void Tracking::Remember(Client& client, std::string_view key, size_t most, Rng& rng) {
  ForgetGone(key, table_->Add(key, client.id));
  Trim(most, kTrimmedPerRead, rng);
}

bool Tracking::Trim(size_t most, size_t effort, Rng& rng) {
  for (; HasMoreKeysThan(most) && effort > 0; --effort) {
    Invalidate(std::string(table_->Random(rng)), nullptr);
  }
  return !HasMoreKeysThan(most);
}

// Rarely enough that it takes constant time on average, and often enough that a key that never
// changes does not collect all clients that ever connected.
void Tracking::ForgetGone(std::string_view key, const TrackingTable::Readers& readers) {
  if (readers.size() <= 2 * client_count_ + kSpareReaders) return;
  table_->RemoveReaders(key, [this](uint64_t id) {
    const Client* const reader = Find(id);
    return reader == nullptr || !reader->tracking().on;
  });
}

void Tracking::Touch(std::string_view key, const Client* by) {
  if (!IsOn()) return;
  prefixes_.Touch(key, by == nullptr ? 0 : by->id);
  Invalidate(key, by);
}

void Tracking::Invalidate(std::string_view key, const Client* by) {
  for (const uint64_t id : table_->Take(key)) {
    Client* const reader = Find(id);
    if (reader == nullptr || !reader->tracking().on || reader->tracking().broadcast) continue;
    if (reader != by || !reader->tracking().no_loop) Send(*reader, Keys(&key, 1));
  }
}

std::shared_ptr<void> Tracking::TouchAll() {
  if (!IsOn()) return nullptr;
  for (const auto& [id, client] : clients_) {
    if (client->tracking().on) Send(*client, std::nullopt);
  }
  return std::exchange(table_, NewTable());
}

void Tracking::Broadcast() {
  if (!prefixes_.HasNews()) return;
  prefixes_.Broadcast([this](Client& client, Keys keys) { Send(client, keys); });
}

Client* Tracking::Find(uint64_t id) const {
  const auto found = clients_.find(id);
  return found == clients_.end() ? nullptr : found->second;
}

// In RESP2 only subscribers can receive unsolicited messages, and only on behalf of another client.
void Tracking::Send(Client& client, std::optional<Keys> keys) const {
  const bool redirected = client.tracking().redirect != 0;
  Client* const receiver = redirected ? Find(client.tracking().redirect) : &client;
  if (receiver == nullptr) return BreakRedirect(client);
  const bool resp2 = receiver->reply.protocol() == Protocol::kResp2;
  if (resp2 && (!redirected || !receiver->IsSubscriber())) return;
  if (receiver->IsReplica()) return;  // its output is a stream
  receiver->mailbox.Push([&](ReplyWriter& reply) {
    WriteHeader(reply);
    if (!keys) return reply.Null();
    reply.Array(keys->size());
    for (const std::string_view key : *keys) reply.Bulk(key);
  });
}

}  // namespace zsetd
