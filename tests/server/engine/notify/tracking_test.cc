// The table of who has read what, beside a plain model; and what follows from its bounds.

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

TEST(TrackingTable, HoldsWhatAMapOfSetsHolds) {
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
  std::vector<std::unique_ptr<Client>> owned_;  // also those that have left
  std::map<uint64_t, Client*> clients_;
  Tracking tracking_{1, clients_};
};

TEST_F(TrackingOfClients, ForgetsWhoCameReadAndLeft) {
  const auto stays = Connect(1);
  for (uint64_t id = 2; id < 1000; ++id) {
    const auto comes = Connect(id);
    tracking_.Remember(*comes, "popular", 0, rng_);
    Leave(*comes);
  }
  tracking_.Remember(*stays, "popular", 0, rng_);
  EXPECT_LT(tracking_.table().reader_count(), 32u);
  tracking_.Touch("popular", nullptr);
  EXPECT_EQ(stays->out.view(), ">2\r\n$10\r\ninvalidate\r\n*1\r\n$7\r\npopular\r\n");
}

TEST_F(TrackingOfClients, KeepsNothingOnceNobodyTracks) {
  const auto client = Connect(1);
  for (int i = 0; i < 100; ++i) tracking_.Remember(*client, std::to_string(i), 0, rng_);
  EXPECT_NE(tracking_.Stop(*client), nullptr);
  EXPECT_EQ(tracking_.table().key_count(), 0u);
  EXPECT_EQ(tracking_.Stop(*client), nullptr);
}

TEST_F(TrackingOfClients, TellsOfEveryKeyThatTheTableHasNoRoomFor) {
  constexpr size_t kMost = 10;
  constexpr int kKeys = 1000;
  const auto client = Connect(1);
  for (int i = 0; i < kKeys; ++i) {
    tracking_.Remember(*client, std::to_string(i), kMost, rng_);
    ASSERT_LE(tracking_.table().key_count(), kMost);
  }
  size_t told = 0;
  for (size_t at = 0; (at = client->out.view().find("invalidate", at)) != std::string_view::npos;
       ++at)
    ++told;
  EXPECT_EQ(told, kKeys - kMost);
}

}  // namespace
}  // namespace zsetd
