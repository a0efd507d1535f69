#include "server/http/login_throttle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

namespace zsetd {
namespace {

using std::chrono::seconds;

constexpr Micros kStart = seconds(1000);

void Fail(LoginThrottle& throttle, const std::string& address, int times, Micros now) {
  for (; times > 0; --times) throttle.OnFailure(address, now);
}

TEST(LoginThrottle, TenFailuresAreFree) {
  LoginThrottle throttle;
  Fail(throttle, "a", 9, kStart);
  EXPECT_EQ(throttle.WaitFor("a", kStart), Micros(0));
  Fail(throttle, "a", 1, kStart);
  EXPECT_EQ(throttle.WaitFor("a", kStart), Micros(seconds(5)));
  EXPECT_EQ(throttle.WaitFor("b", kStart), Micros(0));
}

TEST(LoginThrottle, ThenOneInFiveSecondsIs) {
  LoginThrottle throttle;
  Fail(throttle, "a", 10, kStart);
  for (int turn = 1; turn < 20; ++turn) {
    const Micros now = kStart + turn * Micros(seconds(5));
    EXPECT_GT(throttle.WaitFor("a", now - Micros(1)), Micros(0));
    EXPECT_EQ(throttle.WaitFor("a", now), Micros(0));
    Fail(throttle, "a", 1, now);
  }
}

TEST(LoginThrottle, FailuresAreForgotten) {
  LoginThrottle throttle;
  Fail(throttle, "a", 10, kStart);
  const Micros later = kStart + seconds(50);
  Fail(throttle, "a", 9, later);
  EXPECT_EQ(throttle.WaitFor("a", later), Micros(0));
}

TEST(LoginThrottle, ManyAddressesTakeBoundedMemory) {
  LoginThrottle throttle;
  Fail(throttle, "guesser", 10, kStart);
  size_t most = 0;
  for (int number = 0; number < 20'000; ++number) {
    throttle.OnFailure("address " + std::to_string(number), kStart + Micros(number));
    most = std::max(most, throttle.address_count());
  }
  EXPECT_EQ(most, 1024);
  EXPECT_GT(throttle.WaitFor("guesser", kStart + Micros(20'000)), Micros(0));
  while (throttle.address_count() < 1024) {
    throttle.OnFailure("more " + std::to_string(throttle.address_count()), kStart);
  }
  throttle.OnFailure("another", kStart + seconds(3600));
  EXPECT_EQ(throttle.address_count(), 1);
}

}  // namespace
}  // namespace zsetd
