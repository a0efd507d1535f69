#include "server/engine/store/edit.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/keyspace/value.h"
#include "server/engine/store/value_limits.h"

namespace zsetd::edit_test {
namespace {

constexpr KeyEvent kEvent = KeyEvent::kZAdd;

struct Scene {
  std::vector<std::string> subkeys;  // of all changes
  ValueLimits limits;
  Database database{0, 1, [this](const Change& change) {
                      subkeys.insert(subkeys.end(), change.subkeys.begin(), change.subkeys.end());
                    }};

  Scene() { database.set_limits(limits); }

  template <class T>
  Edit<T> Open(std::string_view key) {
    Entry* entry = database.Open(key);
    if (entry != nullptr) return Edit<T>(database, *entry, kEvent);
    return Edit<T>(database, database.Make(key, T()), kEvent, /*is_new=*/true);
  }

  SortedSetEncoding SetEncoding() { return database.Find("z")->GetIf<SortedSet>()->encoding(); }
};

TEST(Edit, SettlesTheEncodingOfASortedSetByItsSize) {
  Scene scene;
  scene.limits.sorted_set = {.listpack_entries = 2, .listpack_value = 3};
  const auto add = [&](std::string_view member) {
    scene.Open<SortedSet>("z").Add(member, 1, AddRule());
  };
  add("a");
  add("b");
  EXPECT_EQ(scene.SetEncoding(), SortedSetEncoding::kListpack);
  add("c");
  EXPECT_EQ(scene.SetEncoding(), SortedSetEncoding::kSkiplist);
}

TEST(Edit, SettlesTheEncodingOfASortedSetByTheLongestNewMember) {
  Scene scene;
  scene.limits.sorted_set = {.listpack_entries = 100, .listpack_value = 4};
  scene.Open<SortedSet>("z").Add("long", 1, AddRule());
  EXPECT_EQ(scene.SetEncoding(), SortedSetEncoding::kListpack);
  scene.limits.sorted_set.listpack_value = 3;
  {
    auto set = scene.Open<SortedSet>("z");  // the existing member is not checked again
    set.Add("long", 2, AddRule());
    set.Add("abc", 1, AddRule());
  }
  EXPECT_EQ(scene.SetEncoding(), SortedSetEncoding::kListpack);
  {
    auto set = scene.Open<SortedSet>("z");
    set.Add("four", 2, AddRule());
    set.Add("x", 1, AddRule());
  }
  EXPECT_EQ(scene.SetEncoding(), SortedSetEncoding::kSkiplist);
}

TEST(Edit, AnnouncedMembersCountEvenIfTheyAreEqual) {
  Scene scene;
  scene.limits.sorted_set.listpack_entries = 2;
  {
    auto set = scene.Open<SortedSet>("z");
    set.Announce(3, "a");
    set.Add("a", 1, AddRule());
  }
  EXPECT_EQ(scene.SetEncoding(), SortedSetEncoding::kSkiplist);
}

TEST(Edit, RecordsTheSubkeysThatChanged) {
  Scene scene;
  scene.database.set_wants_subkeys([](KeyEvent) { return true; });
  {
    auto set = scene.Open<SortedSet>("z");
    set.Add("a", 1, AddRule());
    set.Add("a", 1, AddRule());  // no change
    set.Add("b", 1, {.only_existing = true});
    EXPECT_TRUE(set.Remove(set->At(0).member()));
    EXPECT_FALSE(set.Remove("none"));
    set.Add("c", 1, AddRule());
  }
  EXPECT_EQ(scene.subkeys, std::vector<std::string>({"a", "a", "c"}));
  scene.subkeys.clear();
  scene.Open<Hash>("h").Set("field", "value");
  scene.Open<Set>("s").Add("member");
  EXPECT_EQ(scene.subkeys, std::vector<std::string>({"field", "member"}));
}

TEST(Edit, RecordsNoSubkeysWithoutAListener) {
  Scene scene;
  auto set = scene.Open<Set>("s");
  EXPECT_FALSE(set.RecordsSubkeys());
  set.Add("member");
  EXPECT_TRUE(set.Remove("member"));
}

TEST(Edit, UsesTheLimitsOfTheDatabase) {
  Scene scene;
  scene.limits.list.elements = 2;
  {
    const auto list = scene.Open<List>("l");
    list.Announce(3, 3);
    for (int i = 0; i < 3; ++i) list->PushBack("x");
  }
  const List* const list = scene.database.Find("l")->GetIf<List>();
  EXPECT_EQ(list->encoding(), ListEncoding::kQuicklist);
  {
    const auto edit = scene.Open<List>("l");
    edit->Erase(0, 2);
    edit.ReconsiderEncoding();
  }
  EXPECT_EQ(list->encoding(), ListEncoding::kListpack);
}

}  // namespace
}  // namespace zsetd::edit_test
