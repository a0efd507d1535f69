// Clients that are blocked on a key are asked in the order in which they blocked, those of a group
// through its first one, like in a plain list.
#include "server/engine/notify/blocked_clients.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/util/rng.h"
#include "server/engine/client/client.h"
#include "server/engine/client/key_wait.h"
#include "server/engine/client/score_wait.h"
#include "server/engine/client/stream_wait.h"

namespace zsetd::blocked_clients_test {
namespace {

const BlockedClients::Key kKey(0, "key");

std::unique_ptr<const Wait> WaitForScore(double score) {
  TimedScoreRange range;
  range.min.score = range.max.score = score;
  return std::make_unique<ScoreWait>(range);
}

std::unique_ptr<const Wait> WaitForClaim(const std::string& group, Millis min_idle) {
  std::vector<StreamWait::Position> positions = {{kKey.second, std::nullopt}};
  return std::make_unique<StreamWait>(std::move(positions), group, min_idle);
}

class BlockedClientsTest : public testing::Test {
 protected:
  ~BlockedClientsTest() override {
    for (const auto& client : clients_) blocked_.Remove(*client);
  }

  Client& Add(std::unique_ptr<const Wait> wait) {
    clients_.push_back(std::make_unique<Client>(clients_.size() + 1, "", "", Millis(0), [] {}));
    blocked_.Add(*clients_.back(), {.command = nullptr,
                                    .argv = OwnedArgs(),
                                    .keys = {kKey},
                                    .until = std::nullopt,
                                    .wait = std::move(wait)});
    return *clients_.back();
  }

  // Takes the key, which has changed, and asks all clients that can be asked, none of which the key
  // can serve. Returns how many were asked.
  size_t AskAll() {
    blocked_.Touch(kKey.first, kKey.second);
    EXPECT_EQ(blocked_.TakeReady(), kKey);
    size_t asked = 0;
    uint64_t number = 0;
    while (Client* const client = blocked_.NextFor(kKey, number)) {
      number = client->blocked->number;
      if (client->blocked->wait->IsTimed()) blocked_.Defer(*client, kKey, std::nullopt);
      ++asked;
    }
    return asked;
  }

  BlockedClients blocked_;
  std::vector<std::unique_ptr<Client>> clients_;
};

TEST_F(BlockedClientsTest, OneOfAllEqualClaimsIsAsked) {
  for (int i = 0; i < 100; ++i) Add(WaitForClaim("g", Millis(1000)));
  EXPECT_EQ(AskAll(), 1u);
  Add(WaitForClaim("g", Millis(2000)));
  Add(WaitForClaim("h", Millis(1000)));
  EXPECT_EQ(AskAll(), 3u);
  EXPECT_EQ(AskAll(), 3u);
}

// The time is that of the processor, compared with what another part of the same test takes.
TEST_F(BlockedClientsTest, AskingManyGroupsTakesAboutAsLongAsAddingThem) {
  constexpr int kGroups = 30'000;
  const auto started = std::clock();
  for (int i = 0; i < kGroups; ++i) Add(WaitForScore(i));
  const auto added = std::clock();
  EXPECT_EQ(AskAll(), size_t{kGroups});
  const auto asked = std::clock();
  EXPECT_LT(asked - added, 20 * (added - started));
}

// A wait of the model: its group is a number, 0 for none.
struct Waiter {
  Client* client = nullptr;
  uint64_t group = 0;
};

class BlockedClientsModel : public BlockedClientsTest {
 protected:
  void AddAny() {
    const uint64_t group = rng_.Below(8);
    std::unique_ptr<const Wait> wait = std::make_unique<KeyWait<SortedSet>>();
    if (group > 0) wait = WaitForScore(static_cast<double>(group));
    if (group > 4) wait = WaitForClaim("g", Millis(group));
    waiters_.push_back({&Add(std::move(wait)), group});
  }

  void RemoveAny() {
    if (waiters_.empty()) return;
    const auto at = waiters_.begin() + static_cast<ptrdiff_t>(rng_.Below(waiters_.size()));
    blocked_.Remove(*at->client);
    waiters_.erase(at);
  }

  // Serves the client or not, with equal answers for the clients of a group until one is left out.
  void Pass() {
    blocked_.Touch(kKey.first, kKey.second);
    ASSERT_EQ(blocked_.TakeReady().has_value(), !waiters_.empty());
    std::vector<uint64_t> deferred;
    uint64_t number = 0;
    for (size_t place = 0; place < waiters_.size();) {
      const auto [client, group] = waiters_[place];
      if (std::ranges::count(deferred, group) > 0) {
        ++place;
        continue;
      }
      ASSERT_EQ(blocked_.NextFor(kKey, number), client);
      number = client->blocked->number;
      if (rng_.Below(2) == 0) {
        blocked_.Remove(*client);
        waiters_.erase(waiters_.begin() + static_cast<ptrdiff_t>(place));
        continue;
      }
      ++place;
      if (group == 0) continue;
      blocked_.Defer(*client, kKey, Millis(static_cast<int64_t>(rng_.Below(9))));
      deferred.push_back(group);
    }
    ASSERT_EQ(blocked_.NextFor(kKey, number), nullptr);
  }

  static constexpr uint64_t kSeed = 41;
  Rng rng_{kSeed};
  std::vector<Waiter> waiters_;  // in the order in which they blocked
};

TEST_F(BlockedClientsModel, AsksInTheOrderOfAList) {
  for (int step = 0; step < 5'000 && !HasFatalFailure(); ++step) {
    const uint64_t choice = rng_.Below(20);
    if (choice < 13) AddAny();
    if (choice == 13) RemoveAny();
    if (choice > 17) Pass();
    ASSERT_EQ(blocked_.count(), waiters_.size());
    ASSERT_EQ(blocked_.key_count(), waiters_.empty() ? 0u : 1u);
  }
  while (!waiters_.empty()) RemoveAny();
  EXPECT_EQ(blocked_.NextDue(), std::nullopt);
}

}  // namespace
}  // namespace zsetd::blocked_clients_test
