#include "core/hashing/slot_dictionaries.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace zsetd {
namespace {

struct Node {
  explicit Node(std::string given) : name(std::move(given)) {}
  std::string_view key() const { return name; }
  Node* next() const { return next_; }
  void set_next(Node* next) { next_ = next; }

  std::string name;
  Node* next_ = nullptr;
};

using Nodes = SlotDictionaries<Node>;

class SlotDictionariesTest : public testing::Test {
 protected:
  void Insert(const std::string& name) { nodes.Insert(std::make_unique<Node>(name)); }

  // Half of the keys have one of three tags, so that some slots are large.
  static std::string KeyOf(uint64_t number) {
    const std::string text = std::to_string(number);
    return number % 2 == 0 ? text : "{tag" + std::to_string(number % 3) + "}" + text;
  }

  Rng rng{7};
  const std::unique_ptr<Nodes> owner = std::make_unique<Nodes>();
  Nodes& nodes = *owner;
};

TEST_F(SlotDictionariesTest, AnEmptyOneHasNothing) {
  EXPECT_EQ(nodes.size(), 0u);
  EXPECT_EQ(nodes.Find("a"), nullptr);
  EXPECT_EQ(nodes.Random(rng), nullptr);
  EXPECT_EQ(nodes.Scan(0, [](const Node&) { FAIL(); }), 0u);
  nodes.Sample(rng, 5, 5, [](const Node&) { return ADD_FAILURE(), true; });
}

TEST_F(SlotDictionariesTest, BehavesLikeAMap) {
  std::map<std::string, Node*> model;
  for (int step = 0; step < 30'000; ++step) {
    const bool growing = step / 6'000 % 2 == 0;
    const std::string key = KeyOf(rng.Below(3'000));
    const auto known = model.find(key);
    ASSERT_EQ(nodes.Find(key), known == model.end() ? nullptr : known->second);
    const bool insert = rng.Below(10) < (growing ? 8 : 2);
    if (insert && known == model.end()) {
      Insert(key);
      model[key] = nodes.Find(key);
    } else if (!insert && known != model.end()) {
      EXPECT_EQ(nodes.Extract(*known->second)->name, key);
      model.erase(known);
    }
    ASSERT_EQ(nodes.size(), model.size());
    if (step % 5'000 == 0) nodes.Check();
  }
  std::set<std::string> names;
  nodes.ForEach([&](const Node& node) { names.insert(node.name); });
  EXPECT_EQ(names.size(), model.size());
}

// Keys that exist throughout are visited although others come and go, and HasPassed() agrees with
// the visits.
TEST_F(SlotDictionariesTest, AScanVisitsAllThatStay) {
  for (uint64_t i = 0; i < 2'000; ++i) Insert(KeyOf(i));
  std::set<std::string> visited;
  uint64_t next_key = 2'000;
  uint64_t cursor = 0;
  do {
    cursor = nodes.Scan(cursor, [&](const Node& node) { visited.insert(node.name); });
    for (int i = 0; i < 3; ++i) Insert(KeyOf(next_key++));
    const std::string old = KeyOf(1'000 + rng.Below(1'000));
    if (Node* node = nodes.Find(old)) nodes.Extract(*node);
    if (cursor == 0) break;
    const std::string key = KeyOf(rng.Below(1'000));
    ASSERT_EQ(nodes.HasPassed(cursor, key), visited.contains(key)) << key;
  } while (true);
  for (uint64_t i = 0; i < 1'000; ++i) EXPECT_TRUE(visited.contains(KeyOf(i))) << i;
}

TEST_F(SlotDictionariesTest, AnyCursorIsValid) {
  for (uint64_t i = 0; i < 100; ++i) Insert(KeyOf(i));
  for (int i = 0; i < 1'000; ++i) nodes.Scan(rng.Next(), [](const Node&) {});
}

TEST_F(SlotDictionariesTest, AllNodesAreEquallyLikely) {
  constexpr int kNodes = 200;
  for (uint64_t i = 0; i < kNodes; ++i) Insert(KeyOf(i));
  std::map<std::string, int> drawn;
  for (int i = 0; i < kNodes * 100; ++i) ++drawn[nodes.Random(rng)->name];
  EXPECT_EQ(drawn.size(), static_cast<size_t>(kNodes));
  for (const auto& [name, times] : drawn) EXPECT_NEAR(times, 100, 60) << name;
}

TEST_F(SlotDictionariesTest, ASampleContinuesInOtherSlots) {
  for (uint64_t i = 0; i < 50; ++i) Insert(KeyOf(i));
  for (const size_t enough : {size_t{1}, size_t{20}, size_t{50}, size_t{90}}) {
    std::set<std::string> seen;
    nodes.Sample(rng, enough, 1'000, [&](const Node& node) {
      EXPECT_TRUE(seen.insert(node.name).second);
      return true;
    });
    EXPECT_EQ(seen.size(), std::min<size_t>(enough, 50));
  }
  size_t visits = 0;
  nodes.Sample(rng, 5, 30, [&](const Node&) { return ++visits == 0; });
  EXPECT_EQ(visits, 30u) << "the most nodes";
}

TEST_F(SlotDictionariesTest, EmptiedSlotsTakeNoMemory) {
  const size_t empty = nodes.BytesUsed();
  for (uint64_t i = 0; i < 1'000; ++i) Insert(KeyOf(i));
  EXPECT_GT(nodes.BytesUsed(), empty);
  for (uint64_t i = 0; i < 1'000; ++i) nodes.Extract(*nodes.Find(KeyOf(i)));
  EXPECT_EQ(nodes.BytesUsed(), empty);
  nodes.Check();
}

}  // namespace
}  // namespace zsetd
