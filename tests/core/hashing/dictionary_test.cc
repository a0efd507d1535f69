#include "core/hashing/dictionary.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "tests/core/check_after_change.h"
#include "tests/support/steps.h"

namespace zsetd::dictionary_test {
namespace {

struct Node {
  explicit Node(std::string given) : name(std::move(given)) { ++living; }
  ~Node() { --living; }
  std::string_view key() const { return name; }
  Node* next() const { return next_; }
  void set_next(Node* next) { next_ = next; }

  static inline int living = 0;
  std::string name;
  Node* next_ = nullptr;
};

constexpr uint64_t kHashSeed = 17;

using Nodes = Dictionary<Node>;

Node& Insert(Nodes& nodes, std::string name) {
  return nodes.Insert(std::make_unique<Node>(std::move(name)));
}

void InsertNumbers(Nodes& nodes, int first, int last) {
  for (int i = first; i < last; ++i) Insert(nodes, std::to_string(i));
}

void ExtractNumbers(Nodes& nodes, int first, int last) {
  for (int i = first; i < last; ++i) nodes.Extract(*nodes.Find(std::to_string(i)));
}

std::multiset<std::string> NamesOf(const Nodes& nodes) {
  std::multiset<std::string> names;
  nodes.ForEach([&](const Node& node) { names.insert(node.name); });
  return names;
}

TEST(Dictionary, EmptyDictionaryHasNoNodes) {
  Nodes nodes(kHashSeed);
  Rng rng(1);
  EXPECT_EQ(nodes.size(), 0u);
  EXPECT_EQ(nodes.Find("a"), nullptr);
  EXPECT_EQ(nodes.Random(rng), nullptr);
  EXPECT_EQ(nodes.BytesUsed(), 0u);
  EXPECT_EQ(nodes.Scan(0, [](const Node&) { FAIL(); }), 0u);
}

TEST(Dictionary, ReplacesANodeAtItsPosition) {
  Nodes nodes(kHashSeed);
  InsertNumbers(nodes, 0, 1'000);
  for (int i = 0; i < 1'000; ++i) {
    Node& old = *nodes.Find(std::to_string(i));
    auto fresh = std::make_unique<Node>(old.name);
    Node* const expected = fresh.get();
    EXPECT_EQ(nodes.Replace(old, std::move(fresh)).get(), &old);
    EXPECT_EQ(nodes.Find(std::to_string(i)), expected);
  }
  EXPECT_EQ(nodes.size(), 1'000u);
  EXPECT_EQ(NamesOf(nodes).size(), 1'000u);
}

TEST(Dictionary, ReservedBucketsAreUsedOrRemoved) {
  for (const int inserted : {0, 100, 1'000, 3'000}) {
    Nodes nodes(kHashSeed);
    nodes.Reserve(1'000);
    InsertNumbers(nodes, 0, inserted);
    nodes.Trim();
    nodes.Check();
    EXPECT_EQ(NamesOf(nodes).size(), static_cast<size_t>(inserted));
    for (int i = 0; i < inserted; ++i) EXPECT_NE(nodes.Find(std::to_string(i)), nullptr);
    InsertNumbers(nodes, inserted, inserted + 100);
    ExtractNumbers(nodes, 0, inserted + 100);
    nodes.Check();
  }
}

TEST(Dictionary, KeysAreAnyBytes) {
  Nodes nodes(kHashSeed);
  const std::string zeros(3, '\0');
  Node& empty = Insert(nodes, "");
  Node& zero = Insert(nodes, zeros);
  EXPECT_EQ(nodes.Find(""), &empty);
  EXPECT_EQ(nodes.Find(zeros), &zero);
  EXPECT_EQ(nodes.Find(zeros.substr(1)), nullptr);
}

// Grows and shrinks in turn, so that every size is passed in both directions.
TEST(Dictionary, BehavesLikeAMap) {
  const uint64_t seed = 20180708;
  SCOPED_TRACE(seed);
  Rng rng(seed);
  Nodes nodes(kHashSeed);
  std::map<std::string, Node*> model;
  for (int step = 0; step < 60'000; ++step) {
    const bool growing = step / 6'000 % 2 == 0;
    const std::string key = std::to_string(rng.Below(4'000));
    const auto known = model.find(key);
    ASSERT_EQ(nodes.Find(key), known == model.end() ? nullptr : known->second);
    const bool insert = rng.Below(10) < (growing ? 8 : 2);
    if (insert && known == model.end()) {
      model[key] = &Insert(nodes, key);
    } else if (!insert && known != model.end()) {
      EXPECT_EQ(nodes.Extract(*known->second)->name, key);
      model.erase(known);
    }
    ASSERT_EQ(nodes.size(), model.size());
    CheckAfterChange(nodes, step);
  }
  std::multiset<std::string> names;
  for (const auto& [key, node] : model) names.insert(key);
  EXPECT_EQ(NamesOf(nodes), names);
}

TEST(Dictionary, FreesEveryNodeItOwns) {
  {
    Nodes nodes(kHashSeed);
    InsertNumbers(nodes, 0, 2'000);
    ExtractNumbers(nodes, 0, 500);
    EXPECT_EQ(Node::living, 1'500);
    nodes.Clear();
    EXPECT_EQ(Node::living, 0);
    InsertNumbers(nodes, 0, 10);
  }
  EXPECT_EQ(Node::living, 0);
}

TEST(Dictionary, MemoryFollowsTheNumberOfNodes) {
  Nodes nodes(kHashSeed);
  InsertNumbers(nodes, 0, 10'000);
  EXPECT_GE(nodes.BytesUsed(), 10'000 * sizeof(Node*));
  EXPECT_LE(nodes.BytesUsed(), 12'000 * sizeof(Node*));
  ExtractNumbers(nodes, 1, 10'000);
  EXPECT_LE(nodes.BytesUsed(), 6'000u);
  nodes.Clear();
  EXPECT_EQ(nodes.BytesUsed(), 0u);
}

TEST(Dictionary, MovesWithItsNodesAndSwaps) {
  Nodes one(kHashSeed);
  Nodes other(kHashSeed + 1);
  Node& in_one = Insert(one, "one");
  InsertNumbers(other, 0, 1'000);

  std::swap(one, other);
  EXPECT_EQ(other.Find("one"), &in_one);
  EXPECT_EQ(other.size(), 1u);
  EXPECT_EQ(one.size(), 1'000u);
  EXPECT_NE(one.Find("999"), nullptr);

  Nodes taken(std::move(one));
  EXPECT_EQ(taken.size(), 1'000u);
  EXPECT_EQ(one.size(), 0u);
  InsertNumbers(one, 0, 3);
  EXPECT_EQ(one.size(), 3u);
}

TEST(Dictionary, QuietScanVisitsEachNodeOnce) {
  for (int size : {1, 2, 3, 5, 8, 100, 511, 512, 513, 3'000}) {
    Nodes nodes(kHashSeed);
    InsertNumbers(nodes, 0, size);
    std::multiset<std::string> seen;
    uint64_t cursor = 0;
    do {
      cursor = nodes.Scan(cursor, [&](const Node& node) { seen.insert(node.name); });
    } while (cursor != 0);
    EXPECT_EQ(seen, NamesOf(nodes)) << size;
  }
}

// Between two calls of a scan hundreds of nodes are added and removed, so that buckets split and
// merge.
TEST(Dictionary, ScanVisitsEveryNodeThatStaysWhileOthersAreAddedAndRemoved) {
  for (int seed = 1; seed <= Steps(10); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    Nodes nodes(seed);
    const int staying = 200;
    InsertNumbers(nodes, 0, staying);

    int last = staying;  // staying .. last-1 exist too
    std::set<std::string> seen;
    uint64_t cursor = 0;
    do {
      cursor = nodes.Scan(cursor, [&](const Node& node) { seen.insert(node.name); });
      const int wanted = staying + static_cast<int>(rng.Below(1'200));
      const int next = last + std::clamp(wanted - last, -200, 200);
      InsertNumbers(nodes, last, next);
      ExtractNumbers(nodes, next, last);
      last = next;
    } while (cursor != 0);
    for (int i = 0; i < staying; ++i) EXPECT_TRUE(seen.contains(std::to_string(i))) << i;
  }
}

TEST(Dictionary, ScanTakesAnyCursor) {
  Rng rng(3);
  Nodes nodes(kHashSeed);
  InsertNumbers(nodes, 0, 700);
  for (int i = 0; i < 1'000; ++i) {
    int calls = 1;
    uint64_t cursor = nodes.Scan(rng.Next(), [](const Node&) {});
    for (; cursor != 0; ++calls) cursor = nodes.Scan(cursor, [](const Node&) {});
    EXPECT_LE(calls, 764);
  }
}

// 96 nodes in 160 buckets, drawn 1000 times each: five standard deviations in either direction.
TEST(Dictionary, RandomFavoursNoNode) {
  Rng rng(5);
  Nodes nodes(kHashSeed);
  InsertNumbers(nodes, 0, 160);
  ExtractNumbers(nodes, 0, 64);
  std::map<std::string, int> drawn;
  for (int i = 0; i < 96'000; ++i) ++drawn[nodes.Random(rng)->name];
  EXPECT_EQ(drawn.size(), 96u);
  for (const auto& [name, times] : drawn) EXPECT_NEAR(times, 1'000, 160) << name;
}

TEST(Dictionary, EachNodeIsSampledEventually) {
  constexpr int kNodes = 100;
  constexpr int kRounds = 20'000;
  Nodes nodes(kHashSeed);
  InsertNumbers(nodes, 0, kNodes);
  Rng rng(1);
  std::map<std::string, int> times;
  for (int round = 0; round < kRounds; ++round) {
    int visits = 0;
    nodes.Sample(rng, 5, 5, [&](const Node& node) {
      ++visits;
      ++times[node.name];
      return true;
    });
    ASSERT_EQ(visits, 5);
  }
  EXPECT_EQ(times.size(), size_t{kNodes});
  constexpr int kExpected = kRounds * 5 / kNodes;
  for (const auto& [name, count] : times) {
    EXPECT_GT(count, kExpected / 20) << name;
    EXPECT_LT(count, kExpected * 5) << name;
  }
}

TEST(Dictionary, ASampleStartsAtAnyNode) {
  constexpr int kNodes = 300;
  Nodes nodes(kHashSeed);
  InsertNumbers(nodes, 0, kNodes);
  Rng rng(1);
  std::set<std::string> first;
  for (int round = 0; round < kNodes * 50; ++round) {
    nodes.Sample(rng, 1, 1, [&](const Node& node) { return first.insert(node.name), true; });
  }
  EXPECT_EQ(first.size(), size_t{kNodes});
}

// Also the nodes of the first chain that precede the first visited one.
TEST(Dictionary, ASampleVisitsEachNodeOnce) {
  constexpr int kNodes = 50;
  Nodes nodes(kHashSeed);
  InsertNumbers(nodes, 0, kNodes);
  Rng rng(1);
  for (int round = 0; round < 500; ++round) {
    std::set<std::string> seen;
    nodes.Sample(rng, kNodes, kNodes * 2, [&](const Node& node) {
      EXPECT_TRUE(seen.insert(node.name).second);
      return false;
    });
    ASSERT_EQ(seen.size(), size_t{kNodes});
  }
}

TEST(Dictionary, ASampleEndsWithTheLastNode) {
  Nodes nodes(kHashSeed);
  InsertNumbers(nodes, 0, 10);
  Rng rng(1);
  int visits = 0;
  const auto count = [&](const Node&) { return ++visits % 2 == 0; };
  nodes.Sample(rng, 100, 100, count);
  EXPECT_EQ(visits, 10);
  nodes.Sample(rng, 100, 3, count);
  EXPECT_EQ(visits, 13) << "no more than it may visit";
  nodes.Sample(rng, 1, 100, count);
  EXPECT_EQ(visits, 14) << "the fourteenth counts";
}

}  // namespace
}  // namespace zsetd::dictionary_test
