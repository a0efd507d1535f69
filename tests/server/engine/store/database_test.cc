#include "server/engine/store/database.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/keyspace/value.h"

namespace zsetd::database_test {
namespace {

constexpr uint64_t kHashSeed = 5;
constexpr int kMany = 10'000;

// A database, and the values that it handed over to be freed.
struct Scene {
  std::vector<std::shared_ptr<void>> discarded;
  Database database{
      0, kHashSeed, [](const Change&) {},
      [this](std::shared_ptr<void> garbage, size_t, size_t) { discarded.push_back(garbage); }};
};

SortedSet SetOf(int members) {
  SortedSet set;
  for (int i = 0; i < members; ++i) set.Set(std::to_string(i), i);
  return set;
}

Value Heavy() { return SetOf(kMany); }
Value Light() { return SetOf(10); }

TEST(Database, ErasedHeavyValuesAreDiscarded) {
  Scene scene;
  scene.database.Put("light", Light(), KeyEvent::kZAdd);
  scene.database.Put("heavy", Heavy(), KeyEvent::kZAdd);
  scene.database.Erase("light");
  EXPECT_TRUE(scene.discarded.empty());
  scene.database.Erase("heavy");
  EXPECT_EQ(scene.discarded.size(), 1u);
}

TEST(Database, LongListsAndStringsAreHeavyToo) {
  Scene scene;
  List list;
  for (int i = 0; i < kMany; ++i) list.PushBack("element");
  scene.database.Put("list", std::move(list), KeyEvent::kRPush);
  scene.database.Put("string", ByteString(std::string(2 << 20, 'x')), KeyEvent::kSet);
  scene.database.Erase("list");
  scene.database.Erase("string");
  EXPECT_EQ(scene.discarded.size(), 2u);
}

TEST(Database, OverwrittenHeavyValuesAreDiscarded) {
  Scene scene;
  scene.database.Put("k", Heavy(), KeyEvent::kZAdd);
  scene.database.Put("k", Light(), KeyEvent::kZAdd);
  EXPECT_EQ(scene.discarded.size(), 1u);
  scene.database.Put("k", Heavy(), KeyEvent::kZAdd);
  EXPECT_EQ(scene.discarded.size(), 1u);
  scene.database.PutKeepingDeadline("k", Light(), KeyEvent::kSet);
  EXPECT_EQ(scene.discarded.size(), 2u);
}

TEST(Database, DeadlineStaysWhenAHeavyValueIsReplaced) {
  Scene scene;
  scene.database.Put("k", Heavy(), KeyEvent::kZAdd);
  scene.database.ExpireAt(*scene.database.Open("k"), Millis(50));
  scene.database.PutKeepingDeadline("k", Light(), KeyEvent::kSet);
  EXPECT_EQ(scene.database.Find("k")->deadline(), Millis(50));
  EXPECT_EQ(scene.database.keys().NextDeadline(), Millis(50));
  EXPECT_EQ(scene.database.keys().with_deadline(), 1u);
}

TEST(Database, PutOverAnExpiredKeyReportsItsExpiryFirst) {
  std::vector<std::string> events;
  Database database(0, kHashSeed,
                    [&](const Change& change) { events.emplace_back(NameOf(change.event)); });
  database.Put("k", ByteString("old"), KeyEvent::kSet, Millis(10));
  database.AdvanceTo(Millis(10));
  database.Put("k", ByteString("new"), KeyEvent::kSet);
  EXPECT_EQ(database.Find("k")->deadline(), std::nullopt);
  EXPECT_EQ(events, (std::vector<std::string>{"set", "expire", "expired", "set"}));
}

TEST(Database, ADeadlineThatHasPassedErasesTheKey) {
  std::vector<std::string> events;
  Database database(0, kHashSeed,
                    [&](const Change& change) { events.emplace_back(NameOf(change.event)); });
  database.AdvanceTo(Millis(10));
  database.Put("a", ByteString("v"), KeyEvent::kSet, Millis(10));
  database.Put("b", ByteString("v"), KeyEvent::kSet);
  database.ExpireAt(*database.Open("b"), Millis::min());
  EXPECT_EQ(database.keys().size(), 0u);
  EXPECT_EQ(events, (std::vector<std::string>{"set", "del", "set", "del"}));
}

TEST(Database, MoveAndCopyDiscardThePreviousValue) {
  Scene scene;
  scene.database.Put("from", Light(), KeyEvent::kZAdd);
  scene.database.Put("to", Heavy(), KeyEvent::kZAdd);
  scene.database.Copy(*scene.database.Open("from"), scene.database, "to", KeyEvent::kCopyTo);
  EXPECT_EQ(scene.discarded.size(), 1u);
  scene.database.Put("to", Heavy(), KeyEvent::kZAdd);
  scene.database.Move(*scene.database.Open("from"), scene.database, "to", KeyEvent::kRenameFrom,
                      KeyEvent::kRenameTo);
  EXPECT_EQ(scene.discarded.size(), 2u);
}

TEST(Database, MoveDiscardsNoPartOfTheMovedValue) {
  Scene scene;
  scene.database.Put("from", Heavy(), KeyEvent::kZAdd);
  scene.database.Move(*scene.database.Open("from"), scene.database, "to", KeyEvent::kRenameFrom,
                      KeyEvent::kRenameTo);
  EXPECT_TRUE(scene.discarded.empty());
  EXPECT_NE(scene.database.Find("to"), nullptr);
}

TEST(Database, MovedListsAreNotReadAfterwards) {
  Scene scene;
  List list;
  list.PushBack("a");
  scene.database.Put("from", std::move(list), KeyEvent::kRPush);
  scene.database.Move(*scene.database.Open("from"), scene.database, "to", KeyEvent::kRenameFrom,
                      KeyEvent::kRenameTo);
  EXPECT_EQ(scene.database.Find("from"), nullptr);
  EXPECT_EQ(scene.database.Find("to")->GetIf<List>()->size(), 1u);
}

TEST(Database, ExpiredHeavyValuesAreDiscarded) {
  Scene scene;
  scene.database.Put("met", Heavy(), KeyEvent::kZAdd);
  scene.database.ExpireAt(*scene.database.Open("met"), Millis(10));
  scene.database.Put("unmet", Heavy(), KeyEvent::kZAdd);
  scene.database.ExpireAt(*scene.database.Open("unmet"), Millis(10));
  scene.database.AdvanceTo(Millis(10));
  EXPECT_EQ(scene.database.Open("met"), nullptr);
  EXPECT_EQ(scene.discarded.size(), 1u);
  EXPECT_EQ(scene.database.ReclaimDue(10), 1u);
  EXPECT_EQ(scene.discarded.size(), 2u);
}

TEST(Database, KeysAndElementsOfHiddenSlotsAreNotReclaimed) {
  std::vector<std::string> ended;
  Database database(
      0, kHashSeed,
      [&](const Change& change) {
        const bool ends = change.event == KeyEvent::kExpired || change.event == KeyEvent::kZExpired;
        if (ends) ended.emplace_back(change.key);
      },
      nullptr, nullptr, KeyArrangement::kBySlot);
  const auto put_all = [&](const std::string& tag) {
    database.Put(tag + "key", ByteString("v"), KeyEvent::kSet, Millis(10));
    SortedSet set = SetOf(10);
    set.SetDeadline("3", Millis(10));
    database.Put(tag + "set", std::move(set), KeyEvent::kZAdd);
  };
  put_all("{hidden}");
  put_all("{visible}");
  Keyspace::SlotFlags hidden;
  hidden.set(KeySlot("{hidden}"));
  database.set_hidden_slots(&hidden);
  database.AdvanceTo(Millis(10));
  const auto reclaim = [&] {
    while (database.ReclaimDue(1) > 0) {
    }
    while (database.ReclaimDueElements(1) > 0) {
    }
  };
  reclaim();
  EXPECT_EQ(ended, (std::vector<std::string>{"{visible}key", "{visible}set"}));
  EXPECT_EQ(database.keys().NextDeadline(), std::nullopt);
  EXPECT_EQ(database.keys().with_element_deadlines(), 1u);
  ended.clear();
  database.set_hidden_slots(nullptr);
  reclaim();
  EXPECT_EQ(ended, (std::vector<std::string>{"{hidden}key", "{hidden}set"}));
  EXPECT_EQ(database.Find("{hidden}set")->GetIf<SortedSet>()->size(), 9u);
  EXPECT_EQ(database.keys().with_element_deadlines(), 0u);
}

TEST(Database, ClearDiscardsAllKeysTogetherAndTheDatabaseStaysUsable) {
  Scene scene;
  scene.database.Clear();
  EXPECT_TRUE(scene.discarded.empty());
  scene.database.AdvanceTo(Millis(7));
  scene.database.Put("k", Heavy(), KeyEvent::kZAdd);
  scene.database.ExpireAt(*scene.database.Open("k"), Millis(50));
  scene.database.Clear();
  EXPECT_EQ(scene.discarded.size(), 1u);
  EXPECT_EQ(scene.database.keys().size(), 0u);
  EXPECT_EQ(scene.database.keys().with_deadline(), 0u);
  scene.database.Put("k", Light(), KeyEvent::kZAdd);
  scene.discarded.clear();
  EXPECT_NE(scene.database.Find("k"), nullptr);
  EXPECT_EQ(scene.database.now(), Millis(7));
}

TEST(Database, FreesByItselfWithoutADiscarder) {
  Database database(0, kHashSeed, [](const Change&) {});
  database.Put("k", Heavy(), KeyEvent::kZAdd);
  database.Put("k", Heavy(), KeyEvent::kZAdd);
  EXPECT_TRUE(database.Erase("k"));
  database.Put("k", Heavy(), KeyEvent::kZAdd);
  database.Clear();
  EXPECT_EQ(database.keys().size(), 0u);
}

}  // namespace
}  // namespace zsetd::database_test
