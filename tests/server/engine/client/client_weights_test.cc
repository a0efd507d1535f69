// The total weight of the clients stays the sum of their memory, however clients change, connect
// and disconnect.

#include "server/engine/client/client_weights.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/util/rng.h"
#include "server/engine/client/client.h"
#include "server/engine/client/client_memory.h"

namespace zsetd {
namespace {

std::unique_ptr<Client> NewClient(uint64_t id, ClientWeights& weights) {
  auto client = std::make_unique<Client>(id, "peer", "own", Millis(0), [] {});
  weights.Add(*client);
  return client;
}

TEST(ClientWeights, SumEqualsTheMemoryOfAllClients) {
  Rng rng(1);
  ClientWeights weights;
  weights.Switch(true);
  std::vector<std::unique_ptr<Client>> clients;
  for (int step = 0; step < 20'000; ++step) {
    const uint64_t kind = rng.Below(10);
    if (kind == 0 || clients.empty()) {
      clients.push_back(NewClient(step, weights));
    } else {
      const size_t at = rng.Below(clients.size());
      Client& client = *clients[at];
      if (kind == 1) {
        weights.Remove(client);
        clients.erase(clients.begin() + static_cast<ptrdiff_t>(at));
      } else if (kind == 2) {
        client.no_evict = !client.no_evict;
        weights.Note(client);
      } else {
        client.connection.input_capacity = rng.Below(size_t{1} << rng.Below(24));
        weights.Note(client);
      }
    }
    if (rng.Below(3) > 0) continue;
    size_t sum = 0;
    size_t most = 0;
    for (const auto& client : clients) {
      const size_t bytes = client->no_evict ? 0 : BytesUsedBy(*client);
      sum += bytes;
      most = std::max(most, bytes);
    }
    ASSERT_EQ(weights.Sum(), sum) << "step " << step;
    const Client* const heaviest = weights.Heaviest();
    ASSERT_EQ(heaviest == nullptr, most == 0);
    ASSERT_GE(heaviest == nullptr ? 0 : 2 * heaviest->weight(), most) << "step " << step;
  }
}

TEST(ClientWeights, WithoutALimitNoClientIsWeighed) {
  ClientWeights weights;
  const std::unique_ptr<Client> client = NewClient(1, weights);
  EXPECT_EQ(weights.Sum(), 0u);
  weights.Switch(true);
  client->NoteMemory();
  EXPECT_EQ(weights.Sum(), BytesUsedBy(*client));
  weights.Switch(false);
  EXPECT_EQ(weights.Sum(), 0u);
  EXPECT_EQ(weights.Heaviest(), nullptr);
}

TEST(ClientWeights, AMessageIsCountedForItsReceiver) {
  ClientWeights weights;
  weights.Switch(true);
  const std::unique_ptr<Client> client = NewClient(1, weights);
  const size_t before = weights.Sum();
  client->mailbox.Push([](ReplyWriter& reply) { reply.Bulk(std::string(100'000, 'x')); });
  EXPECT_GE(weights.Sum(), before + 100'000);
}

}  // namespace
}  // namespace zsetd
