#include "core/list/list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>

#include "core/util/rng.h"
#include "tests/core/check_after_change.h"

namespace zsetd::list_test {
namespace {

using Model = std::deque<std::string>;

Model Forward(const List& list) {
  Model elements;
  for (auto at = list.CursorAt(0); at.valid(); at.Next()) elements.emplace_back(at.element());
  return elements;
}

Model Backward(const List& list) {
  Model elements;
  if (list.empty()) return elements;
  for (auto at = list.CursorAt(list.size() - 1); at.valid(); at.Previous()) {
    elements.emplace_front(at.element());
  }
  return elements;
}

void ExpectHolds(const List& list, const Model& model) {
  list.Check();
  ASSERT_EQ(list.size(), model.size());
  ASSERT_EQ(Forward(list), model);
  ASSERT_EQ(Backward(list), model);
  size_t bytes = 0;
  for (const std::string& element : model) bytes += ListChunk::PackedBytes(element);
  ASSERT_EQ(list.packed_bytes(), bytes);
}

List ListOf(const Model& elements) {
  List list;
  for (const std::string& element : elements) list.PushBack(element);
  return list;
}

List ListOf(size_t count, const std::string& element) { return ListOf(Model(count, element)); }

// Mostly short, some of the size of half a chunk, a few larger than any chunk.
std::string AnyElement(Rng& rng) {
  const uint64_t kind = rng.Below(100);
  const size_t length = kind == 0   ? 8'000 + rng.Below(1'000)
                        : kind < 5  ? 3'000 + rng.Below(2'000)
                        : kind < 20 ? 100 + rng.Below(200)
                                    : rng.Below(20);
  return std::string(length, static_cast<char>('a' + rng.Below(26)));
}

class ListBesideADeque : public testing::TestWithParam<uint64_t> {
 protected:
  void Step(bool growing) {
    const uint32_t revision = list.revision();
    if (rng.Below(10) < (growing ? 7 : 3)) {
      Add(AnyElement(rng));
    } else if (model.empty()) {
      return;
    } else if (rng.Below(3) == 0) {
      const size_t index = rng.Below(model.size());
      model[index] = AnyElement(rng);
      list.Replace(index, model[index]);
    } else {
      Remove(growing ? 2 : 20);
    }
    ASSERT_NE(list.revision(), revision);
  }

  void Add(const std::string& element) {
    switch (rng.Below(3)) {
      case 0:
        list.PushFront(element);
        return model.push_front(element);
      case 1:
        list.PushBack(element);
        return model.push_back(element);
      default:
        const size_t index = rng.Below(model.size() + 1);
        list.Insert(index, element);
        model.insert(model.begin() + index, element);
    }
  }

  void Remove(size_t at_most) {
    switch (rng.Below(4)) {
      case 0:
        ASSERT_EQ(list.PopFront(), model.front());
        return model.pop_front();
      case 1:
        ASSERT_EQ(list.PopBack(), model.back());
        return model.pop_back();
      case 2:
        return RemoveEqual(std::string(model[rng.Below(model.size())]), rng.Below(at_most) + 1);
      default:
        const size_t first = rng.Below(model.size());
        const size_t last = first + 1 + rng.Below(std::min(model.size() - first, at_most));
        list.Erase(first, last);
        model.erase(model.begin() + first, model.begin() + last);
    }
  }

  void RemoveEqual(const std::string& element, size_t at_most) {
    const bool from_back = rng.Below(2) == 0;
    const size_t removed =
        from_back ? list.RemoveFromBack(element, at_most) : list.RemoveFromFront(element, at_most);
    if (from_back) std::ranges::reverse(model);
    size_t expected = 0;
    std::erase_if(model, [&](const std::string& other) {
      return other == element && expected < at_most && ++expected > 0;
    });
    if (from_back) std::ranges::reverse(model);
    ASSERT_EQ(removed, expected);
  }

  Rng rng{GetParam()};
  List list;
  Model model;
};

TEST_P(ListBesideADeque, BehavesLikeTheDeque) {
  SCOPED_TRACE(GetParam());
  for (int step = 0; step < 15'000; ++step) {
    ASSERT_NO_FATAL_FAILURE(Step(step / 3'000 % 2 == 0));
    CheckAfterChange(list, step);
    if (!model.empty()) {
      const size_t index = rng.Below(model.size());
      ASSERT_EQ(list.At(index), model[index]);
    }
    if (step % 50 != 0) continue;
    ASSERT_NO_FATAL_FAILURE(ExpectHolds(list, model));
  }
  ExpectHolds(list.Clone(), model);
  while (!model.empty()) Remove(200);
  ExpectHolds(list, model);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ListBesideADeque, testing::Range<uint64_t>(1, 9));

TEST(List, BecomesAListpackAgainAtHalfTheLimit) {
  constexpr ListLimits kLimits = {.elements = 4};
  List list;
  for (const char* element : {"a", "b", "c", "d"}) list.PushBack(element);
  list.Reconsider(kLimits);
  EXPECT_EQ(list.encoding(), ListEncoding::kListpack);
  list.Expect(1, 1, kLimits);
  EXPECT_EQ(list.encoding(), ListEncoding::kQuicklist);
  list.Erase(0, 1);
  list.Reconsider(kLimits);
  EXPECT_EQ(list.encoding(), ListEncoding::kQuicklist);
  EXPECT_EQ(list.Clone().encoding(), ListEncoding::kQuicklist);
  list.Erase(0, 1);
  list.Reconsider(kLimits);
  EXPECT_EQ(list.encoding(), ListEncoding::kListpack);
  list.Expect(1, 8192, kLimits);  // bytes count too
  EXPECT_EQ(list.encoding(), ListEncoding::kQuicklist);
}

TEST(List, CursorWalksFromAnyPlaceBothWays) {
  Model model;
  for (int i = 0; i < 3'000; ++i) model.push_back(std::to_string(i));
  const List list = ListOf(model);
  for (size_t index = 1; index + 1 < model.size(); index += 7) {
    auto at = list.CursorAt(index);
    EXPECT_EQ(at.element(), model[index]);
    at.Next();
    EXPECT_EQ(at.element(), model[index + 1]);
    at.Previous();
    at.Previous();
    EXPECT_EQ(at.element(), model[index - 1]);
  }
  EXPECT_FALSE(list.CursorAt(list.size()).valid());
  EXPECT_FALSE(List().CursorAt(0).valid());
}

TEST(List, CloneIsItsOwn) {
  List list = ListOf({"a", "b"});
  List copy = list.Clone();
  copy.PopFront();
  ExpectHolds(list, {"a", "b"});
  ExpectHolds(copy, {"b"});
}

TEST(List, MovesWithItsElements) {
  List list = ListOf({"a", "b"});
  List taken = std::move(list);
  list = ListOf({"c"});
  ExpectHolds(taken, {"a", "b"});
  ExpectHolds(list, {"c"});
}

TEST(List, ErasingNothingChangesNothing) {
  List list = ListOf({"a", "b"});
  const uint32_t revision = list.revision();
  list.Erase(1, 1);
  list.Erase(2, 2);
  EXPECT_EQ(list.revision(), revision);
  ExpectHolds(list, {"a", "b"});
}

TEST(List, RemovesEqualOnesFromEitherEnd) {
  List list = ListOf({"a", "b", "a", "c", "a"});
  EXPECT_EQ(list.RemoveFromFront("a", 1), 1u);
  ExpectHolds(list, {"b", "a", "c", "a"});
  EXPECT_EQ(list.RemoveFromBack("a", 1), 1u);
  ExpectHolds(list, {"b", "a", "c"});
  EXPECT_EQ(list.RemoveFromBack("a", 10), 1u);
  ExpectHolds(list, {"b", "c"});
}

TEST(List, RemovingAMissingElementChangesNothing) {
  List list = ListOf({"a", "b"});
  const uint32_t revision = list.revision();
  EXPECT_EQ(list.RemoveFromFront("c", 10), 0u);
  EXPECT_EQ(list.RemoveFromBack("a", 0), 0u);
  EXPECT_EQ(list.revision(), revision);
  ExpectHolds(list, {"a", "b"});
}

TEST(List, MemoryFollowsRemovals) {
  List list;
  for (int i = 0; i < 50'000; ++i) list.PushBack(i % 20 == 0 ? "kept" : "0123456789");
  EXPECT_EQ(list.RemoveFromFront("0123456789", 50'000), 47'500u);
  EXPECT_LE(list.BytesUsed(), 3 * list.packed_bytes());
}

TEST(List, ShortListIsSmall) { EXPECT_LE(ListOf({"hello"}).BytesUsed(), 180u); }

TEST(List, LongListCostsLittleMoreThanItsBytes) {
  List list = ListOf(100'000, "0123456789");
  EXPECT_LE(list.BytesUsed(), list.packed_bytes() * 102 / 100);
  List pushed;
  for (int i = 0; i < 100'000; ++i) pushed.PushFront("0123456789");
  EXPECT_LE(pushed.BytesUsed(), pushed.packed_bytes() * 102 / 100);
}

TEST(List, MemoryFollowsErasuresInTheMiddle) {
  Rng rng(11);
  List list = ListOf(50'000, "0123456789");
  while (list.size() > 1'000) {
    const size_t index = 1 + rng.Below(list.size() - 2);
    list.Erase(index, index + 1);
  }
  EXPECT_LE(list.BytesUsed(), 3 * list.packed_bytes());
}

// A recency list: elements enter at the front and leave at the back.
TEST(List, QueueKeepsItsSize) {
  List list = ListOf(300, "0123456789");
  size_t most = 0;
  for (int i = 0; i < 100'000; ++i) {
    list.PushFront("0123456789");
    list.Erase(300, list.size());
    most = std::max(most, list.BytesUsed());
  }
  EXPECT_EQ(list.size(), 300u);
  EXPECT_LE(most, 3 * list.packed_bytes());
}

}  // namespace
}  // namespace zsetd::list_test
