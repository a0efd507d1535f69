// A snapshot of a list shows one instant, whatever changes the list receives.
#include "core/list/list_snapshot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/list/list.h"
#include "core/util/rng.h"

namespace zsetd::list_snapshot_test {
namespace {

std::vector<std::string> ElementsOf(const List& list) {
  std::vector<std::string> elements;
  for (auto at = list.CursorAt(0); at.valid(); at.Next()) elements.emplace_back(at.element());
  return elements;
}

void Step(ListSnapshot& snapshot, std::vector<std::string>& elements) {
  snapshot.Step([&](const ListChunk& chunk) {
    for (size_t place = 0; place < chunk.bytes(); place = chunk.PlaceAfter(place)) {
      elements.emplace_back(chunk.ElementAt(place));
    }
  });
}

std::string Element(Rng& rng) {
  return std::to_string(rng.Below(50)) +
         std::string(rng.Below(rng.Below(20) == 0 ? 9000 : 400), 'x');
}

void Change(List& list, Rng& rng) {
  const size_t size = list.size();
  switch (rng.Below(9)) {
    case 0:
      return list.PushFront(Element(rng));
    case 1:
      return list.PushBack(Element(rng));
    case 2:
      if (size > 0) list.PopFront();
      return;
    case 3:
      if (size > 0) list.PopBack();
      return;
    case 4:
      if (size > 0) list.Replace(rng.Below(size), Element(rng));
      return;
    case 5:
      return list.Insert(rng.Below(size + 1), Element(rng));
    case 6: {
      const size_t first = rng.Below(size + 1);
      return list.Erase(first, std::min(size, first + rng.Below(rng.Below(30) == 0 ? 900 : 5)));
    }
    case 7:
      list.RemoveFromFront(std::to_string(rng.Below(50)), 1 + rng.Below(3));
      return;
    default:
      list.RemoveFromBack(std::to_string(rng.Below(50)), 1 + rng.Below(3));
  }
}

TEST(ListSnapshot, ContainsTheElementsOfItsInstantDespiteLaterChanges) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  for (int round = 0; round < 60; ++round) {
    List list;
    for (uint64_t left = rng.Below(2000); left > 0; --left) list.PushBack(Element(rng));
    const std::vector<std::string> expected = ElementsOf(list);
    const std::unique_ptr<ListSnapshot> snapshot = list.StartSnapshot();
    std::vector<std::string> shown;
    while (!snapshot->done()) {
      for (uint64_t left = rng.Below(15); left > 0; --left) Change(list, rng);
      if (rng.Below(150) == 0) {
        List moved = std::move(list);
        list = std::move(moved);
      }
      if (rng.Below(300) == 0) list = List();
      Step(*snapshot, shown);
    }
    ASSERT_EQ(shown, expected) << "round " << round;
    list.Check();
  }
}

TEST(ListSnapshot, MayEndEarlyAndBeTakenAgain) {
  Rng rng(1);
  List list;
  for (int i = 0; i < 1000; ++i) list.PushBack(Element(rng));
  std::vector<std::string> shown;
  {
    const auto snapshot = list.StartSnapshot();
    Step(*snapshot, shown);
    for (int i = 0; i < 100; ++i) Change(list, rng);
  }
  for (int i = 0; i < 100; ++i) Change(list, rng);
  const std::vector<std::string> expected = ElementsOf(list);
  const auto again = list.StartSnapshot();
  const List clone = list.Clone();
  list = List();
  shown.clear();
  while (!again->done()) Step(*again, shown);
  EXPECT_EQ(shown, expected);
  EXPECT_EQ(ElementsOf(clone), expected);
}

}  // namespace
}  // namespace zsetd::list_snapshot_test
