#include "core/util/tagged_owner.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace zsetd {
namespace {

struct Left {
  static inline int living = 0;
  Left() { ++living; }
  ~Left() { --living; }
  uint16_t number = 1;
};

struct Right {
  static inline int living = 0;
  Right() { ++living; }
  ~Right() { --living; }
  uint16_t number = 2;
};

using Either = TaggedOwner<Left, Right, std::default_delete<Left>, std::default_delete<Right>>;
static_assert(sizeof(Either) == sizeof(void*));

TEST(TaggedOwner, HoldsEitherTypeOrNull) {
  Either either;
  EXPECT_EQ(either.first(), nullptr);
  EXPECT_EQ(either.second(), nullptr);
  auto* left = new Left;
  either.Reset(left);
  EXPECT_EQ(either.first(), left);
  EXPECT_EQ(either.second(), nullptr);
  auto* right = new Right;
  either.Reset(right);
  EXPECT_EQ(either.first(), nullptr);
  EXPECT_EQ(either.second(), right);
}

TEST(TaggedOwner, FreesItsPointer) {
  {
    Either either;
    either.Reset(new Left);
    either.Reset(new Left);
    EXPECT_EQ(Left::living, 1);
    either.Reset(new Right);
    EXPECT_EQ(Left::living, 0);
    Either other = std::move(either);
    EXPECT_EQ(either.second(), nullptr);
    other = std::move(either);
    EXPECT_EQ(Right::living, 0);
    other.Reset(new Right);
  }
  EXPECT_EQ(Right::living, 0);
}

TEST(TaggedOwner, AReleasedPointerIsNotFreed) {
  Either either;
  either.Reset(new Left);
  EXPECT_EQ(either.ReleaseSecond(), nullptr);
  Left* left = either.ReleaseFirst();
  EXPECT_EQ(either.first(), nullptr);
  EXPECT_EQ(Left::living, 1);
  delete left;
  either.Reset(new Right);
  delete either.ReleaseSecond();
  EXPECT_EQ(either.second(), nullptr);
}

}  // namespace
}  // namespace zsetd
