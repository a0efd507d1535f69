#include "server/engine/state/server_mode.h"

#include <gtest/gtest.h>

namespace zsetd::server_mode_test {
namespace {

constexpr Millis kNow{1'000};

TEST(ServerModeTest, NormalModeAllowsEverything) {
  const ServerMode mode;
  EXPECT_TRUE(mode.IsNormal());
  EXPECT_TRUE(mode.IsBetweenUnits());
  EXPECT_TRUE(mode.MayChangeByItself(kNow));
  EXPECT_TRUE(mode.MayExpire(kNow));
  EXPECT_TRUE(mode.MayEvict(kNow));
}

TEST(ServerModeTest, NothingChangesByItselfWhileAScriptIsSuspended) {
  ServerMode mode;
  mode.set_suspended(true);
  EXPECT_FALSE(mode.IsBetweenUnits());
  EXPECT_FALSE(mode.HasWholeData());
  EXPECT_FALSE(mode.MayChangeByItself(kNow));
  EXPECT_FALSE(mode.MayExpire(kNow));
  EXPECT_FALSE(mode.MayEvict(kNow));
  mode.set_suspended(false);
  EXPECT_TRUE(mode.IsNormal());
}

TEST(ServerModeTest, PauseEndsWithTheTimeAlthoughItIsNotCleared) {
  ServerMode mode;
  mode.set_paused_until(kNow + Millis(1));
  EXPECT_TRUE(mode.IsPaused(kNow));
  EXPECT_TRUE(mode.IsBetweenUnits());
  EXPECT_FALSE(mode.MayChangeByItself(kNow));
  EXPECT_FALSE(mode.MayEvict(kNow));
  EXPECT_FALSE(mode.IsPaused(kNow + Millis(1)));
  EXPECT_TRUE(mode.MayExpire(kNow + Millis(1)));
  EXPECT_FALSE(mode.IsNormal());
  mode.set_paused_until(std::nullopt);
  EXPECT_TRUE(mode.IsNormal());
}

TEST(ServerModeTest, KeysEndDuringALoadOnlyIfTheOldDataIsServed) {
  ServerMode mode;
  mode.set_loading(ServerMode::Loading::kAlone);
  EXPECT_TRUE(mode.is_loading());
  EXPECT_FALSE(mode.HasWholeData());
  EXPECT_TRUE(mode.MayChangeByItself(kNow));
  EXPECT_FALSE(mode.MayExpire(kNow));
  mode.set_loading(ServerMode::Loading::kBeside);
  EXPECT_FALSE(mode.is_loading());
  EXPECT_TRUE(mode.is_loading_beside());
  EXPECT_TRUE(mode.MayExpire(kNow));
  EXPECT_FALSE(mode.MayEvict(kNow));
  mode.set_loading(ServerMode::Loading::kNone);
  EXPECT_TRUE(mode.IsNormal());
}

TEST(ServerModeTest, ReplicaIsNotNormalButMayChange) {
  ServerMode mode;
  mode.set_replica(true);
  EXPECT_TRUE(mode.is_replica());
  EXPECT_FALSE(mode.IsNormal());
  EXPECT_TRUE(mode.MayEvict(kNow));
}

}  // namespace
}  // namespace zsetd::server_mode_test
