#include "server/http/login_throttle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

namespace zsetd {
namespace {

using std::chrono::seconds;

constexpr Micros kStart = seconds(1000);

using Login = LoginThrottle::Login;

const Login kAlice("10.0.0.1", "alice");
const Login kBob("10.0.0.1", "bob");

void Fail(LoginThrottle& throttle, const Login& login, int times, Micros now) {
  for (; times > 0; --times) throttle.OnFailure(login, now);
}

TEST(LoginThrottle, TenFailuresAreFree) {
  LoginThrottle throttle;
  Fail(throttle, kAlice, 9, kStart);
  EXPECT_EQ(throttle.WaitFor(kAlice, kStart), Micros(0));
  Fail(throttle, kAlice, 1, kStart);
  EXPECT_EQ(throttle.WaitFor(kAlice, kStart), Micros(seconds(5)));
  EXPECT_EQ(throttle.WaitFor(kBob, kStart), Micros(0));
}

TEST(LoginThrottle, ThenOneInFiveSecondsIs) {
  LoginThrottle throttle;
  Fail(throttle, kAlice, 10, kStart);
  for (int turn = 1; turn < 20; ++turn) {
    const Micros now = kStart + turn * Micros(seconds(5));
    EXPECT_GT(throttle.WaitFor(kAlice, now - Micros(1)), Micros(0));
    EXPECT_EQ(throttle.WaitFor(kAlice, now), Micros(0));
    Fail(throttle, kAlice, 1, now);
  }
}

TEST(LoginThrottle, FailuresAreForgotten) {
  LoginThrottle throttle;
  Fail(throttle, kAlice, 10, kStart);
  const Micros later = kStart + seconds(50);
  Fail(throttle, kAlice, 9, later);
  EXPECT_EQ(throttle.WaitFor(kAlice, later), Micros(0));
}

TEST(LoginThrottle, UsersAndAddressesDoNotShareALimit) {
  LoginThrottle throttle;
  Fail(throttle, kAlice, 100, kStart);
  EXPECT_GT(throttle.WaitFor(kAlice, kStart), Micros(0));
  EXPECT_EQ(throttle.WaitFor(kBob, kStart), Micros(0));
  EXPECT_EQ(throttle.WaitFor(Login("10.0.0.2", "alice"), kStart), Micros(0));
}

TEST(LoginThrottle, LongNamesTakeBoundedMemory) {
  EXPECT_LT(Login("10.0.0.1", std::string(8192, 'x')).text().size(), 100u);
}

TEST(LoginThrottle, ManyLoginsTakeBoundedMemory) {
  LoginThrottle throttle;
  Fail(throttle, kAlice, 10, kStart);
  size_t most = 0;
  for (int number = 0; number < 20'000; ++number) {
    throttle.OnFailure(Login("address " + std::to_string(number), "x"), kStart + Micros(number));
    most = std::max(most, throttle.login_count());
  }
  EXPECT_EQ(most, 1024);
  EXPECT_GT(throttle.WaitFor(kAlice, kStart + Micros(20'000)), Micros(0));
  while (throttle.login_count() < 1024) {
    throttle.OnFailure(Login("more", std::to_string(throttle.login_count())), kStart);
  }
  throttle.OnFailure(kBob, kStart + seconds(3600));
  EXPECT_EQ(throttle.login_count(), 1);
}

}  // namespace
}  // namespace zsetd
