#include "core/util/piece_snapshot.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "core/util/rng.h"
#include "core/util/snapshot_link.h"

namespace zsetd {
namespace {

struct Number {
  uint64_t value;
  bool released = false;
};

struct Numbers {
  using Piece = Number;
  using Owned = std::unique_ptr<Number>;

  static Owned Clone(const Number& piece) { return std::make_unique<Number>(Number{piece.value}); }
  static size_t BytesUsed(const Number&) { return 10; }
  static void Release(Number& piece) {
    EXPECT_FALSE(piece.released);
    piece.released = true;
  }
#ifndef NDEBUG
  static uint64_t Checksum(const Number& piece) { return piece.value; }
#endif
};

using NumberSnapshot = PieceSnapshot<Numbers>;

TEST(PieceSnapshot, HandsOutThePiecesInOrderAndReleasesThem) {
  std::deque<Number> pieces = {{.value = 7}, {.value = 8}};
  NumberSnapshot snapshot(2, 5);
  snapshot.Add(4, pieces[0]);
  snapshot.Add(1, pieces[1]);
  EXPECT_EQ(snapshot.piece_count(), 2u);
  snapshot.Step([&](const Number& piece) { EXPECT_EQ(&piece, &pieces[0]); });
  EXPECT_TRUE(pieces[0].released);
  EXPECT_FALSE(pieces[1].released);
  EXPECT_EQ(snapshot.Take()->value, 8u);
  EXPECT_TRUE(pieces[1].released);
  EXPECT_TRUE(snapshot.done());
}

TEST(PieceSnapshot, CopiesAPieceOnceBeforeItsFirstChange) {
  Number piece = {.value = 7};
  NumberSnapshot snapshot(1, 1);
  snapshot.Add(0, piece);
  snapshot.BeforeChange(0);
  EXPECT_TRUE(piece.released);
  piece.value = 9;
  snapshot.BeforeChange(0);
  snapshot.BeforeChange(100);  // a later piece
  EXPECT_EQ(snapshot.copied_bytes(), 10u);
  EXPECT_EQ(snapshot.Take()->value, 7u);
  EXPECT_EQ(snapshot.copied_bytes(), 0u);
}

TEST(PieceSnapshot, KeepsAPieceWithoutACopy) {
  Number piece = {.value = 7};
  NumberSnapshot snapshot(1, 1);
  snapshot.Add(0, piece);
  snapshot.Keep(0);
  snapshot.BeforeChange(0);
  snapshot.Keep(0);
  EXPECT_EQ(snapshot.copied_bytes(), 0u);
  EXPECT_TRUE(piece.released);
  EXPECT_EQ(snapshot.Take()->value, 7u);
}

TEST(PieceSnapshot, MayOutliveItsPiecesAndEndEarly) {
  Number last = {.value = 3};
  NumberSnapshot snapshot(3, 3);
  {
    Number first = {.value = 1};
    Number second = {.value = 2};
    snapshot.Add(0, first);
    snapshot.Add(1, second);
    snapshot.TakeOver(0, std::make_unique<Number>(Number{1}));
    snapshot.CopyAll();
    EXPECT_TRUE(first.released && second.released);
  }
  snapshot.Step([](const Number& piece) { EXPECT_EQ(piece.value, 1u); });
  {
    NumberSnapshot ended(1, 1);
    ended.Add(0, last);
  }
  EXPECT_TRUE(last.released);
}

// Random changes next to a copy of the values.
TEST(PieceSnapshot, ContainsTheValuesOfItsInstantDespiteLaterChanges) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::unique_ptr<Number>> pieces;
    std::vector<uint64_t> expected;
    const auto count = static_cast<uint32_t>(1 + rng.Below(20));
    NumberSnapshot snapshot(count, count);
    for (uint32_t number = 0; number < count; ++number) {
      expected.push_back(rng.Below(1000));
      pieces.push_back(std::make_unique<Number>(Number{expected.back()}));
      snapshot.Add(number, *pieces.back());
    }
    std::vector<uint64_t> shown;
    while (!snapshot.done()) {
      const auto number = static_cast<uint32_t>(rng.Below(count));
      if (pieces[number] != nullptr) snapshot.BeforeChange(number);
      if (rng.Below(2) == 0) {
        pieces[number].reset();
      } else if (pieces[number] != nullptr) {
        pieces[number]->value = rng.Below(1000);
      }
      if (rng.Below(2) == 0) shown.push_back(snapshot.Take()->value);
    }
    ASSERT_EQ(shown, expected) << "round " << round;
  }
}

TEST(SnapshotLink, IsCutByEitherSide) {
  struct Snapshot {
    explicit Snapshot(Snapshot*& pointer) : link(pointer, *this) {}
    SnapshotLink<Snapshot> link;
  };
  Snapshot* pointer = nullptr;
  {
    Snapshot snapshot(pointer);
    EXPECT_EQ(pointer, &snapshot);
  }
  EXPECT_EQ(pointer, nullptr);
  auto of_destroyed = std::optional<Snapshot*>(nullptr);
  Snapshot snapshot(*of_destroyed);
  snapshot.link.Cut();
  of_destroyed.reset();
  snapshot.link.Cut();
}

}  // namespace
}  // namespace zsetd
