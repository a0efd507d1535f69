#include "server/engine/client/client_weights.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <span>

#include "server/engine/client/client.h"
#include "server/engine/client/client_memory.h"

namespace zsetd {

void ClientWeights::Switch(bool on) {
  if (is_on_ == on) return;
  is_on_ = on;
  for (Client* client : noted_) client->weight_.noted_at = Entry::kNone;
  noted_.clear();
  for (std::vector<Client*>& bucket : buckets_) {
    for (Client* client : bucket) client->weight_ = Entry();
    bucket.clear();
  }
  sum_ = 0;
}

void ClientWeights::Add(Client& client) {
  assert(client.weights_ == nullptr);
  client.weights_ = this;
  Note(client);
}

void ClientWeights::Note(Client& client) {
  if (!is_on_ || client.weight_.noted_at != Entry::kNone) return;
  client.weight_.noted_at = noted_.size();
  noted_.push_back(&client);
}

void ClientWeights::Remove(Client& client) {
  const size_t at = client.weight_.noted_at;
  if (at != Entry::kNone) {
    assert(noted_[at] == &client);
    noted_[at] = noted_.back();
    noted_[at]->weight_.noted_at = at;
    noted_.pop_back();
  }
  Erase(client);
  client.weight_ = Entry();
  client.weights_ = nullptr;
}

size_t ClientWeights::Sum() {
  WeighNoted();
  return sum_;
}

Client* ClientWeights::Heaviest() {
  constexpr size_t kLooks = 16;
  WeighNoted();
  const auto highest = std::find_if(buckets_.rbegin(), buckets_.rend(),
                                    [](const auto& bucket) { return !bucket.empty(); });
  if (highest == buckets_.rend()) return nullptr;
  const auto first = std::span(*highest).first(std::min(highest->size(), kLooks));
  return *std::ranges::max_element(first, {},
                                   [](const Client* client) { return client->weight_.bytes; });
}

void ClientWeights::WeighNoted() {
  for (Client* client : noted_) {
    client->weight_.noted_at = Entry::kNone;
    UpdateMemoryUse(*client);
  }
  noted_.clear();
}

void ClientWeights::UpdateMemoryUse(Client& client) {
  const size_t bytes = client.no_evict || client.IsReplica() ? 0 : BytesUsedBy(client);
  const size_t before = client.weight_.bytes;
  if (bytes == before) return;
  if (&BucketOf(bytes) == &BucketOf(before)) {
    sum_ += bytes - before;
    client.weight_.bytes = bytes;
    return;
  }
  Erase(client);
  Insert(client, bytes);
}

std::vector<Client*>& ClientWeights::BucketOf(size_t bytes) {
  return buckets_[std::bit_width(bytes)];
}

void ClientWeights::Insert(Client& client, size_t bytes) {
  assert(client.weight_.place == Entry::kNone);
  sum_ += bytes;
  client.weight_.bytes = bytes;
  if (bytes == 0) return;
  std::vector<Client*>& bucket = BucketOf(bytes);
  client.weight_.place = bucket.size();
  bucket.push_back(&client);
}

void ClientWeights::Erase(Client& client) {
  const size_t place = client.weight_.place;
  if (place == Entry::kNone) return;
  std::vector<Client*>& bucket = BucketOf(client.weight_.bytes);
  assert(bucket[place] == &client);
  bucket[place] = bucket.back();
  bucket[place]->weight_.place = place;
  bucket.pop_back();
  assert(sum_ >= client.weight_.bytes);
  sum_ -= client.weight_.bytes;
  client.weight_.bytes = 0;
  client.weight_.place = Entry::kNone;
}

}  // namespace zsetd
