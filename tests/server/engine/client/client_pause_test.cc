#include "server/engine/client/client_pause.h"

#include <gtest/gtest.h>

#include <memory>
#include <string_view>
#include <vector>

#include "server/engine/client/client.h"
#include "server/engine/command/command.h"

namespace zsetd::client_pause_test {
namespace {

using Cause = ClientPause::Cause;
using Reach = ClientPause::Reach;

constexpr Millis kNow{1000};

class ClientPauseTest : public testing::Test {
 protected:
  bool HoldsWrites(Millis now) const { return Holds(kWrite, now); }
  bool HoldsReads(Millis now) const { return Holds(kReadOnly, now); }
  bool Holds(uint32_t flags, Millis now) const {
    return pause_.IsOn(now) && pause_.Holds(client_, flags, now);
  }

  ServerMode mode_;
  ClientPause pause_{mode_};
  Client client_{1, "", "", kNow, [] {}};
};

TEST_F(ClientPauseTest, TheEndOfOnePauseDoesNotEndAnother) {
  pause_.Begin(Cause::kShutdown, Reach::kWrites, kNow, Millis::max());
  pause_.Begin(Cause::kCommand, Reach::kEverything, kNow, Millis(2000));
  EXPECT_TRUE(HoldsReads(kNow));
  pause_.End(Cause::kCommand);
  EXPECT_FALSE(HoldsReads(kNow));
  EXPECT_TRUE(HoldsWrites(kNow));
  pause_.End(Cause::kShutdown);
  EXPECT_FALSE(pause_.IsOn(kNow));
  EXPECT_FALSE(HoldsWrites(kNow));
}

TEST_F(ClientPauseTest, EachPauseEndsAtItsOwnTime) {
  pause_.Begin(Cause::kCommand, Reach::kEverything, kNow, Millis(2000));
  pause_.Begin(Cause::kFailover, Reach::kWrites, kNow, Millis(3000));
  EXPECT_EQ(pause_.NextDeadline(kNow), Millis(3000));
  EXPECT_TRUE(HoldsReads(Millis(1999)));
  EXPECT_FALSE(HoldsReads(Millis(2000)));
  EXPECT_TRUE(HoldsWrites(Millis(2999)));
  EXPECT_FALSE(HoldsWrites(Millis(3000)));
}

TEST_F(ClientPauseTest, PausesOfOneCauseCombine) {
  pause_.Begin(Cause::kCommand, Reach::kEverything, kNow, Millis(2000));
  pause_.Begin(Cause::kCommand, Reach::kWrites, kNow, Millis(1500));
  EXPECT_TRUE(HoldsReads(Millis(1999)));
  pause_.Begin(Cause::kCommand, Reach::kWrites, Millis(2000), Millis(2500));
  EXPECT_FALSE(HoldsReads(Millis(2000)));
  EXPECT_TRUE(HoldsWrites(Millis(2499)));
}

TEST_F(ClientPauseTest, ReleasedRequestsAreTakenInOrder) {
  constexpr std::string_view kRequest[] = {"PING"};
  std::vector<std::unique_ptr<Client>> clients;
  const auto postpone = [&] {
    clients.push_back(std::make_unique<Client>(clients.size() + 2, "", "", kNow, [] {}));
    pause_.Postpone(*clients.back(), kRequest);
  };
  for (int i = 0; i < 4; ++i) postpone();
  EXPECT_FALSE(pause_.TakeReleased());
  EXPECT_TRUE(pause_.HasUnreleased());
  pause_.Release();
  EXPECT_TRUE(pause_.HasReleased());
  EXPECT_FALSE(pause_.HasUnreleased());
  pause_.Begin(Cause::kCommand, Reach::kEverything, kNow, Millis(2000));
  EXPECT_EQ(pause_.NextDeadline(kNow), kNow);
  postpone();
  EXPECT_TRUE(pause_.HasUnreleased());
  EXPECT_EQ(pause_.TakeReleased()->client, clients[0].get());
  pause_.Postpone(*clients[0], kRequest);  // by the next pause
  pause_.Remove(*clients[2]);
  EXPECT_TRUE(clients[2]->postponed_request.empty());
  pause_.Remove(*clients[2]);
  EXPECT_EQ(pause_.TakeReleased()->client, clients[1].get());
  EXPECT_EQ(pause_.TakeReleased()->client, clients[3].get());
  EXPECT_FALSE(pause_.TakeReleased());
  EXPECT_EQ(pause_.NextDeadline(kNow), Millis(2000));
  EXPECT_EQ(pause_.postponed(), 2u);
  for (const auto& client : clients) pause_.Remove(*client);
  EXPECT_FALSE(pause_.HasPostponed());
}

}  // namespace
}  // namespace zsetd::client_pause_test
