// The hard output limit applies to each message, however many one command writes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "server/engine/engine.h"

namespace zsetd::hard_limit_test {
namespace {

constexpr Millis kStart{1'800'000'000'000};
constexpr int64_t kLimit = 100'000;
constexpr int kMessages = 1'000;
const std::string kMessage(1'000, 'x');

Settings WithLimitForMessages() {
  Settings settings;
  settings.client_output_buffer_limit.pubsub = {.hard_bytes = kLimit};
  return settings;
}

class HardLimit : public testing::Test {
 protected:
  HardLimit() { engine_.clients().Attach(client_); }
  ~HardLimit() override { engine_.clients().Detach(client_); }

  void Push() {
    client_.mailbox.Push([](ReplyWriter& reply) { reply.Bulk(kMessage); });
  }

  // Writes messages that would exceed the limit many times. Returns the most bytes that waited.
  size_t Flood() {
    size_t most = 0;
    for (int i = 0; i < kMessages; ++i) {
      Push();
      most = std::max(most, client_.output.UnsentBytes());
    }
    return most;
  }
  void ExpectClosedAtTheLimit() {
    EXPECT_LE(Flood(), kLimit + ClientOutput::kUncounted + kMessage.size());
    EXPECT_TRUE(client_.connection.close_now);
    EXPECT_GT(wakes_, 0);
    EXPECT_EQ(closed(), 1u);
  }
  uint64_t closed() { return engine_.metrics().stats().stalled_disconnections; }

  Engine engine_{
      WithLimitForMessages(), {}, /*seed=*/1, kStart, Host{.stopwatch = [] { return Micros(0); }}};
  int wakes_ = 0;
  Client client_{engine_.clients().NextId(), "peer", "own", kStart, [this] { ++wakes_; }};
};

TEST_F(HardLimit, ClosesSubscribers) {
  engine_.notifier().Subscribe(client_, ChannelKind::kChannel, "news");
  ExpectClosedAtTheLimit();
  EXPECT_EQ(client_.output.UnsentBytes(), 0u);
}

TEST_F(HardLimit, ClosesClientsWithOtherMessages) { ExpectClosedAtTheLimit(); }

TEST_F(HardLimit, ClosesClientsWhoseOwnReplyIsInProgress) {
  client_.output.buffer.Append("+part");
  client_.executing = true;
  ExpectClosedAtTheLimit();
  EXPECT_EQ(client_.output.buffer.view(), "+part") << "its command is still writing";
  EXPECT_TRUE(client_.output.pending_pushes.empty());
  client_.executing = false;
}

TEST_F(HardLimit, CountsBytesThatAreBeingSent) {
  engine_.notifier().Subscribe(client_, ChannelKind::kChannel, "news");
  client_.output.sending_bytes = kLimit;
  ExpectClosedAtTheLimit();
}

TEST_F(HardLimit, AppliesAsSoonAsItIsSet) {
  Settings settings = engine_.settings();
  settings.client_output_buffer_limit.pubsub.hard_bytes = 0;
  settings.client_output_buffer_limit.normal.hard_bytes = 0;
  ASSERT_TRUE(engine_.Configure(settings).ok());
  EXPECT_GT(Flood(), kMessages * kMessage.size());
  EXPECT_FALSE(client_.connection.close_now);
  settings.client_output_buffer_limit.normal.hard_bytes = kLimit;
  ASSERT_TRUE(engine_.Configure(settings).ok());
  Push();
  EXPECT_TRUE(client_.connection.close_now);
}

}  // namespace
}  // namespace zsetd::hard_limit_test
