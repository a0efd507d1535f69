#include "server/engine/port/request_port.h"

#include <gtest/gtest.h>

#include "server/engine/client/client.h"
#include "server/engine/client/traffic.h"
#include "server/engine/engine.h"

namespace zsetd::request_port_test {
namespace {

constexpr Millis kStart{1'000'000};

Host TestHost() {
  Host host;
  host.stopwatch = [] { return Micros(0); };
  host.wall_clock = [] { return Micros(kStart); };
  return host;
}

Settings WithSmallLimits() {
  Settings settings;
  settings.client_query_buffer_limit = 1 << 20;
  settings.client_output_buffer_limit.normal.hard_bytes = 100'000;
  return settings;
}

class RequestPortTest : public testing::Test {
 protected:
  RequestPortTest() { port_.Attach(client_); }
  ~RequestPortTest() override { port_.Detach(client_); }

  Engine engine_{WithSmallLimits(), {}, 1, kStart, TestHost()};
  RequestPort port_{engine_};
  Client client_{port_.NextClientId(), "127.0.0.1:50000", "127.0.0.1:6379", kStart, [] {}};
};

TEST_F(RequestPortTest, TrafficIsAddedToTheClient) {
  EXPECT_TRUE(port_.Begin(client_, {.received = 100, .sent = 30, .input_bytes = 7}));
  EXPECT_TRUE(port_.Begin(client_, {.received = 20, .unsent_bytes = 5, .unsent_capacity = 8}));
  EXPECT_EQ(client_.connection.received, 120u);
  EXPECT_EQ(client_.connection.sent, 30u);
  EXPECT_EQ(client_.connection.input_bytes, 0u);
  EXPECT_EQ(client_.output.sending_bytes, 5u);
  EXPECT_EQ(client_.output.sending_capacity, 8u);
}

TEST_F(RequestPortTest, OnlyBytesCountAsActivity) {
  engine_.executor().AdvanceTo(kStart + Millis(10));
  port_.Begin(client_, {.input_bytes = 7});
  EXPECT_EQ(client_.connection.last_active, kStart);
  port_.Begin(client_, {.sent = 1});
  EXPECT_EQ(client_.connection.last_active, kStart + Millis(10));
}

TEST_F(RequestPortTest, ClientThatSendsTooMuchIsCountedAndMustBeClosed) {
  EXPECT_TRUE(port_.Begin(client_, {.received = 1, .input_bytes = 1 << 20}));
  EXPECT_FALSE(port_.Begin(client_, {.received = 1, .input_bytes = (1 << 20) + 1}));
  EXPECT_EQ(engine_.metrics().stats().flooding_disconnections, 1u);
}

TEST_F(RequestPortTest, ClientWithMuchUnsentIsStalled) {
  port_.Begin(client_, {.unsent_bytes = 100'000});
  EXPECT_FALSE(port_.IsStalled(client_));
  port_.Begin(client_, {.unsent_bytes = 200'000});
  EXPECT_TRUE(port_.IsStalled(client_));
  EXPECT_EQ(engine_.metrics().stats().stalled_disconnections, 1u);
}

TEST_F(RequestPortTest, MessagesAreForgottenWhenAllIsSent) {
  client_.mailbox.Push([](ReplyWriter& reply) { reply.Simple("news"); });
  EXPECT_GT(client_.output.pushed_bytes, 0u);
  client_.output.buffer.Clear();
  port_.Begin(client_, {.unsent_bytes = 3});
  EXPECT_GT(client_.output.pushed_bytes, 0u);
  port_.Begin(client_, {.sent = 3});
  EXPECT_EQ(client_.output.pushed_bytes, 0u);
}

}  // namespace
}  // namespace zsetd::request_port_test
