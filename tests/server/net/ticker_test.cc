#include "server/net/ticker.h"

#include <gtest/gtest.h>

#include "server/net/clock.h"

namespace zsetd {
namespace {

TEST(Ticker, LeavesNothingToWaitForOnceItIsStopped) {
  boost::asio::io_context io;
  Engine engine(Settings(), {}, /*seed=*/1, UnixNow(), Host{.stopwatch = [] { return Micros(0); }});
  Ticker ticker(io, engine);
  ticker.Start();
  ticker.Stop();
  Settings settings;
  settings.hz = 500;
  ASSERT_TRUE(engine.Configure(settings).ok());
  ticker.Reconsider();  // the next tick would be nearer now
  io.poll();
  EXPECT_TRUE(io.stopped());
}

}  // namespace
}  // namespace zsetd
