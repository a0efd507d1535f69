// The requests that a pause has postponed run a few at a time after its end.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/commands/all_commands.h"
#include "server/engine/engine.h"

namespace zsetd::postponed_requests_test {
namespace {

constexpr Millis kStart{1'800'000'000'000};
constexpr size_t kClients = 300;
constexpr Micros kBudget{100};

class PostponedRequests : public testing::Test {
 protected:
  PostponedRequests() {
    for (size_t i = 0; i <= kClients; ++i) {
      const uint64_t id = engine_.clients().NextId();
      clients_.push_back(std::make_unique<Client>(id, "peer", "own", kStart, [] {}));
      engine_.clients().Attach(*clients_.back());
    }
  }
  ~PostponedRequests() override {
    for (const auto& client : clients_) {
      if (client != nullptr) engine_.clients().Detach(*client);
    }
  }

  // The client with this number; 0 is the one that pauses the others.
  void Send(size_t number, const std::vector<std::string_view>& words) {
    engine_.executor().Execute(*clients_[number], words);
  }
  std::string TakeReply(size_t number) {
    return std::string(std::exchange(clients_[number]->output.buffer, {}).view());
  }
  std::string Ask(const std::vector<std::string_view>& words) {
    Send(0, words);
    return TakeReply(0);
  }

  // All clients but the first append their numbers to a list, in this order.
  void PostponeAppends() {
    EXPECT_EQ(Ask({"CLIENT", "PAUSE", "1000", "WRITE"}), "+OK\r\n");
    for (size_t i = 1; i <= kClients; ++i) Send(i, {"RPUSH", "list", std::to_string(i)});
    EXPECT_EQ(postponed(), kClients);
  }
  void Tick() { engine_.executor().Tick(kBudget); }
  void TickUntilNoneIsLeft() {
    for (size_t i = 0; postponed() > 0 && i < kClients; ++i) {
      EXPECT_EQ(engine_.executor().NextDeadline(), engine_.store().now());
      const size_t before = postponed();
      Tick();
      EXPECT_LT(postponed(), before);
      EXPECT_LE(before - postponed(), 20u);
    }
    EXPECT_EQ(postponed(), 0u);
  }
  void ExpectReplies() {
    for (size_t i = 1; i <= kClients; ++i) {
      EXPECT_EQ(TakeReply(i), ":" + std::to_string(i) + "\r\n");
    }
  }
  size_t postponed() const { return engine_.clients().pause().postponed(); }

  Micros stopwatch_{0};
  Engine engine_{Settings(), AllCommands(), /*seed=*/1, kStart,
                 Host{.stopwatch = [this] { return stopwatch_ += Micros(10); },
                      .wall_clock = [] { return Micros(kStart); }}};
  std::vector<std::unique_ptr<Client>> clients_;
};

TEST_F(PostponedRequests, RunAFewAtATimeAndInOrder) {
  PostponeAppends();
  EXPECT_EQ(Ask({"CLIENT", "UNPAUSE"}), "+OK\r\n");
  EXPECT_LT(postponed(), kClients) << "the first ones run immediately";
  const size_t left = postponed();
  EXPECT_GT(left, 0u);
  EXPECT_EQ(Ask({"PING"}), "+PONG\r\n");
  EXPECT_EQ(postponed(), left) << "other requests are not delayed";
  TickUntilNoneIsLeft();
  ExpectReplies();
}

TEST_F(PostponedRequests, RunWhenThePauseEndsByItself) {
  PostponeAppends();
  Tick();
  EXPECT_EQ(postponed(), kClients);
  engine_.executor().AdvanceTo(kStart + Millis(1000));
  TickUntilNoneIsLeft();
  ExpectReplies();
}

TEST_F(PostponedRequests, AreCheckedAgainIfAnotherPauseBegins) {
  EXPECT_EQ(Ask({"CLIENT", "PAUSE", "1000", "ALL"}), "+OK\r\n");
  for (size_t i = 1; i <= kClients; ++i) {
    Send(i, i % 2 == 0 ? std::vector<std::string_view>{"GET", "key"}
                       : std::vector<std::string_view>{"INCR", "count"});
  }
  engine_.executor().AdvanceTo(kStart + Millis(1000));
  Tick();
  const size_t writes_left = (postponed() + 1) / 2;
  EXPECT_EQ(Ask({"CLIENT", "PAUSE", "1000", "WRITE"}), "+OK\r\n");
  for (size_t i = 0; i < kClients; ++i) Tick();
  for (size_t i = 2; i <= kClients; i += 2) EXPECT_EQ(TakeReply(i), "$-1\r\n");
  EXPECT_NEAR(static_cast<double>(postponed()), static_cast<double>(writes_left), 1.0);
  EXPECT_EQ(engine_.executor().NextDeadline(), kStart + Millis(2000));
  EXPECT_EQ(Ask({"CLIENT", "UNPAUSE"}), "+OK\r\n");
  TickUntilNoneIsLeft();
  EXPECT_EQ(Ask({"GET", "count"}), "$3\r\n150\r\n");
}

TEST_F(PostponedRequests, OfAClientThatLeavesIsForgotten) {
  PostponeAppends();
  EXPECT_EQ(Ask({"CLIENT", "UNPAUSE"}), "+OK\r\n");
  const size_t left = postponed();
  for (const size_t number : {kClients, kClients - 1}) {
    engine_.clients().Detach(*clients_[number]);
    clients_[number].reset();
  }
  EXPECT_EQ(postponed(), left - 2);
  TickUntilNoneIsLeft();
  EXPECT_EQ(Ask({"LLEN", "list"}), ":298\r\n");
}

}  // namespace
}  // namespace zsetd::postponed_requests_test
