// The tracking table compared with a plain model, and the effects of its limits.

#include "server/engine/notify/tracking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/util/rng.h"
#include "server/engine/client/client.h"

namespace zsetd {
namespace {

constexpr int kSteps = 20'000;

using Model = std::map<std::string, std::set<uint64_t>>;

size_t ReaderCount(const Model& model) {
  size_t count = 0;
  for (const auto& [key, readers] : model) count += readers.size();
  return count;
}

TEST(TrackingTable, HoldsTheSameAsAMapOfSets) {
  constexpr uint64_t kSeed = 20181;
  SCOPED_TRACE(kSeed);
  Rng rng(kSeed);
  TrackingTable table(kSeed);
  Model model;
  for (int step = 0; step < kSteps; ++step) {
    const std::string key = "key" + std::to_string(rng.Below(200));
    const uint64_t reader = rng.Below(8);
    switch (rng.Below(8)) {
      case 0: {
        const std::vector<uint64_t> taken = table.Take(key);
        EXPECT_EQ(std::set(taken.begin(), taken.end()), model[key]);
        model.erase(key);
        break;
      }
      case 1:
        table.RemoveReaders(key, [&](uint64_t id) { return id == reader; });
        if (model.contains(key)) model[key].erase(reader);
        break;
      default:
        const auto& readers = table.Add(key, reader);
        model[key].insert(reader);
        EXPECT_TRUE(std::ranges::equal(readers, model[key]));
    }
    ASSERT_EQ(table.key_count(), model.size());
    ASSERT_EQ(table.reader_count(), ReaderCount(model));
  }
}

class TrackingOfClients : public testing::Test {
 protected:
  ~TrackingOfClients() override {
    for (const auto& [id, client] : clients_) tracking_.Stop(*client);
  }

  // Adds a client that receives invalidations of all keys with that prefix.
  Client* Listen(uint64_t id, const std::string& prefix, bool no_loop = false) {
    Client* const client = Connect(id);
    tracking_.Stop(*client);
    TrackingMode mode;
    mode.on = mode.broadcast = true;
    mode.no_loop = no_loop;
    mode.prefixes = {prefix};
    tracking_.Start(*client, mode);
    return client;
  }

  Client* Connect(uint64_t id) {
    Client* client =
        owned_.emplace_back(std::make_unique<Client>(id, "peer", "own", Millis(0), [] {})).get();
    client->reply.set_protocol(Protocol::kResp3);
    clients_.emplace(id, client);
    TrackingMode mode;
    mode.on = true;
    tracking_.Start(*client, mode);
    return client;
  }

  void Leave(Client& client) {
    tracking_.Stop(client);
    clients_.erase(client.id);
  }

  Rng rng_{1};
  std::vector<std::unique_ptr<Client>> owned_;  // also clients that have disconnected
  std::map<uint64_t, Client*> clients_;
  Tracking tracking_{1, clients_};
};

TEST_F(TrackingOfClients, ForgetsClientsThatHaveDisconnected) {
  const auto stays = Connect(1);
  for (uint64_t id = 2; id < 1000; ++id) {
    const auto comes = Connect(id);
    tracking_.Remember(*comes, "popular", 0, rng_);
    Leave(*comes);
  }
  tracking_.Remember(*stays, "popular", 0, rng_);
  EXPECT_LT(tracking_.table().reader_count(), 32u);
  tracking_.Touch("popular", nullptr);
  EXPECT_EQ(stays->output.buffer.view(), ">2\r\n$10\r\ninvalidate\r\n*1\r\n$7\r\npopular\r\n");
}

TEST_F(TrackingOfClients, KeepsNothingOnceNoClientTracks) {
  const auto client = Connect(1);
  for (int i = 0; i < 100; ++i) tracking_.Remember(*client, std::to_string(i), 0, rng_);
  EXPECT_NE(tracking_.Stop(*client), nullptr);
  EXPECT_EQ(tracking_.table().key_count(), 0u);
  EXPECT_EQ(tracking_.Stop(*client), nullptr);
}

TEST_F(TrackingOfClients, NotifiesOfEveryKeyThatTheTableHasNoRoomFor) {
  constexpr size_t kMost = 10;
  constexpr int kKeys = 1000;
  const auto client = Connect(1);
  for (int i = 0; i < kKeys; ++i) {
    tracking_.Remember(*client, std::to_string(i), kMost, rng_);
    ASSERT_LE(tracking_.table().key_count(), kMost);
  }
  size_t told = 0;
  for (size_t at = 0;
       (at = client->output.buffer.view().find("invalidate", at)) != std::string_view::npos; ++at)
    ++told;
  EXPECT_EQ(told, kKeys - kMost);
}

TEST_F(TrackingOfClients, ALoweredLimitHoldsWithoutAnotherRead) {
  constexpr size_t kKeys = 1000;
  const auto client = Connect(1);
  for (size_t i = 0; i < kKeys; ++i) tracking_.Remember(*client, std::to_string(i), 0, rng_);
  EXPECT_FALSE(tracking_.HasMoreKeysThan(0));
  ASSERT_TRUE(tracking_.HasMoreKeysThan(10));
  EXPECT_FALSE(tracking_.Trim(10, 100, rng_));
  EXPECT_EQ(tracking_.table().key_count(), kKeys - 100) << "no more than the effort";
  EXPECT_TRUE(tracking_.Trim(10, kKeys, rng_));
  EXPECT_EQ(tracking_.table().key_count(), 10u);
}

TEST_F(TrackingOfClients, AReadDoesNotPayForAllThatALowerLimitLeavesOut) {
  const auto client = Connect(1);
  for (int i = 0; i < 1000; ++i) tracking_.Remember(*client, std::to_string(i), 0, rng_);
  tracking_.Remember(*client, "one more", 10, rng_);
  EXPECT_GT(tracking_.table().key_count(), 900u);
}

std::string Invalidation(const std::vector<std::string>& keys) {
  std::string text = ">2\r\n$10\r\ninvalidate\r\n*" + std::to_string(keys.size()) + "\r\n";
  for (const std::string& key : keys) {
    text += "$" + std::to_string(key.size()) + "\r\n" + key + "\r\n";
  }
  return text;
}

TEST_F(TrackingOfClients, SendsAKeyOnceForEachPrefix) {
  const auto all = Listen(1, "");
  const auto users = Listen(2, "user:");
  const auto one = Listen(3, "user:1", /*no_loop=*/true);
  const auto none = Listen(4, "other");
  tracking_.Touch("user:12", one);
  tracking_.Touch("user:1", all);
  tracking_.Touch("user", nullptr);
  tracking_.Broadcast();
  EXPECT_EQ(all->output.buffer.view(), Invalidation({"user", "user:1", "user:12"}));
  EXPECT_EQ(users->output.buffer.view(), Invalidation({"user:1", "user:12"}));
  EXPECT_EQ(one->output.buffer.view(), Invalidation({"user:1"}));
  EXPECT_EQ(none->output.buffer.view(), "");
}

TEST_F(TrackingOfClients, SendsNoChangeFromBeforeThePrefixWasAdded) {
  Listen(1, "k");
  tracking_.Touch("key", nullptr);
  const auto later = Listen(2, "ke");
  tracking_.Touch("kent", nullptr);
  tracking_.Broadcast();
  EXPECT_EQ(later->output.buffer.view(), Invalidation({"kent"}));
}

// Neither the length of prefixes nor their number may cost more than the bytes of the key. If each
// beginning of the name were a prefix that is looked up separately, this would take hours.
TEST_F(TrackingOfClients, LongPrefixesDoNotCostMuch) {
  const std::string name(Tracking::kMostPrefixBytes, 'a');
  std::vector<Client*> clients;
  for (uint64_t id = 1; id <= 1000; ++id) {
    clients.push_back(Listen(id, name.substr(0, name.size() - id) + std::string(id % 2, 'b')));
  }
  for (int i = 0; i < 10; ++i) tracking_.Touch(name + std::to_string(i), clients[0]);
  const std::string longest(32u << 20, 'a');
  for (int i = 0; i < 5; ++i) tracking_.Touch(longest, nullptr);
  EXPECT_EQ(tracking_.prefix_count(), 1000u);
  for (Client* const client : clients) Leave(*client);
  EXPECT_EQ(tracking_.prefix_count(), 0u);
  tracking_.Broadcast();
}

TEST_F(TrackingOfClients, PrefixesCountAsMemoryOfTheirClient) {
  const auto client = Listen(1, std::string(10'000, 'p'));
  EXPECT_GE(client->tracking().prefix_bytes, 20'000u);
  const size_t before = client->tracking().prefix_bytes;
  TrackingMode mode = client->tracking();
  mode.prefixes = {"more"};
  tracking_.Start(*client, mode);
  EXPECT_GT(client->tracking().prefix_bytes, before);
  tracking_.Stop(*client);
  EXPECT_EQ(client->tracking().prefix_bytes, 0u);
}

}  // namespace
}  // namespace zsetd
