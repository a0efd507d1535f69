// A database compared with plain maps: values of every kind and length are added, removed, edited,
// renamed and copied, and expire.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/keyspace/value.h"
#include "core/util/rng.h"
#include "server/engine/store/database.h"
#include "server/engine/store/edit.h"

namespace zsetd {
namespace {

using Scores = std::map<std::string, double>;
using Elements = std::vector<std::string>;

struct Expected {
  std::variant<std::string, Elements, Scores> value;
  std::optional<Millis> deadline;
};

class DatabaseBesideMaps : public testing::TestWithParam<uint64_t> {
 protected:
  void Step() {
    const std::string& key = keys[rng.Below(keys.size())];
    switch (rng.Below(10)) {
      case 0:
      case 1:
        return PutString(key);
      case 2:
        return PutAggregate(key);
      case 3:
      case 4:
        return EditValue(key);
      case 5:
        return Move(key, keys[rng.Below(keys.size())]);
      case 6:
        return Copy(key, keys[rng.Below(keys.size())]);
      case 7:
        return ChangeDeadline(key);
      case 8:
        return AdvanceTo(database.now() + Millis(rng.Below(30)));
      default:
        EXPECT_EQ(database.Erase(key), model.erase(key) == 1);
    }
  }

  // Most are about as long as the space that an entry has next to its key.
  std::string RandomText() {
    const size_t lengths[] = {rng.Below(20), rng.Below(300), 235 + rng.Below(12), rng.Below(5'000)};
    return std::string(lengths[rng.Below(4)], static_cast<char>('a' + rng.Below(26)));
  }

  void PutString(const std::string& key) {
    const std::string text = RandomText();
    std::optional<Millis> deadline;
    if (rng.Below(3) == 0) deadline = database.now() + Millis(1 + rng.Below(500));
    if (rng.Below(4) == 0) {
      database.PutKeepingDeadline(key, ByteString(text), KeyEvent::kSet);
      model[key].value = text;
    } else {
      database.Put(key, ByteString(text), KeyEvent::kSet, deadline);
      model[key] = {text, deadline};
    }
  }

  void PutAggregate(const std::string& key) {
    if (rng.Below(2) == 0) {
      List list;
      list.PushBack("first");
      database.Put(key, std::move(list), KeyEvent::kRPush);
      model[key] = {Elements{"first"}, {}};
    } else {
      SortedSet set;
      set.Set("first", 1);
      database.Put(key, std::move(set), KeyEvent::kZAdd);
      model[key] = {Scores{{"first", 1}}, {}};
    }
  }

  // Edits the value or creates it, like a command that does either.
  void EditValue(const std::string& key) {
    Entry* entry = database.Open(key);
    ASSERT_EQ(entry != nullptr, model.contains(key));
    if (entry == nullptr) return;
    Expected& expected = model[key];
    if (entry->Holds<ByteString>()) {
      Edit<ByteString> edit(database, *entry, KeyEvent::kSet);
      ChangeString(edit, std::get<std::string>(expected.value));
    } else if (entry->Holds<List>()) {
      ChangeList(*entry, std::get<Elements>(expected.value));
    } else {
      ChangeSet(*entry, std::get<Scores>(expected.value));
    }
    std::erase_if(model, [](const auto& pair) { return IsEmptyAggregate(pair.second); });
  }

  static bool IsEmptyAggregate(const Expected& expected) {
    return std::visit([](const auto& value) { return value.empty(); }, expected.value) &&
           !std::holds_alternative<std::string>(expected.value);
  }

  void ChangeString(Edit<ByteString>& edit, std::string& expected) {
    const std::string text = RandomText();
    const size_t offset = rng.Below(300);
    switch (rng.Below(3)) {
      case 0:
        edit.Assign(text);
        expected = text;
        break;
      case 1:
        edit.Append(text);
        expected += text;
        break;
      default:
        edit.Overwrite(offset, text);
        expected.resize(std::max(expected.size(), offset + text.size()));
        expected.replace(offset, text.size(), text);
    }
    EXPECT_EQ(edit.view(), expected);
  }

  void ChangeList(Entry& entry, Elements& expected) {
    Edit<List> list(database, entry, KeyEvent::kRPush);
    if (rng.Below(2) == 0) {
      expected.push_back(RandomText());
      list->PushBack(expected.back());
    } else {
      EXPECT_EQ(list->PopFront(), expected.front());
      expected.erase(expected.begin());
    }
  }

  void ChangeSet(Entry& entry, Scores& expected) {
    Edit<SortedSet> set(database, entry, KeyEvent::kZAdd);
    if (rng.Below(2) == 0) {
      const std::string member = RandomText();
      expected[member] = static_cast<double>(rng.Below(100));
      set->Set(member, expected[member]);
    } else {
      EXPECT_TRUE(set->Remove(expected.begin()->first));
      expected.erase(expected.begin());
    }
  }

  void Move(const std::string& key, const std::string& target) {
    Entry* entry = database.Open(key);
    if (entry == nullptr || key == target) return;
    database.Move(*entry, database, target, KeyEvent::kRenameFrom, KeyEvent::kRenameTo);
    model[target] = model.extract(key).mapped();
  }

  void Copy(const std::string& key, const std::string& target) {
    const Entry* entry = database.Open(key);
    if (entry == nullptr || key == target) return;
    database.Copy(*entry, database, target, KeyEvent::kCopyTo);
    model[target] = model[key];
  }

  void ChangeDeadline(const std::string& key) {
    Entry* entry = database.Open(key);
    if (entry == nullptr) return;
    Expected& expected = model[key];
    if (rng.Below(4) == 0) {
      EXPECT_EQ(database.Persist(*entry), expected.deadline.has_value());
      expected.deadline.reset();
      return;
    }
    const Millis deadline = database.now() + Millis(rng.Below(1'000)) - Millis(20);
    database.ExpireAt(*entry, deadline);
    expected.deadline = deadline;
    if (deadline <= database.now()) model.erase(key);
  }

  // Expired keys are freed only at times, as when a tick exhausts its budget.
  void AdvanceTo(Millis now) {
    database.AdvanceTo(now);
    std::erase_if(model, [&](const auto& pair) {
      return pair.second.deadline && *pair.second.deadline <= now;
    });
    if (rng.Below(2) == 0) database.ReclaimDue(2);
  }

  static Elements ElementsOf(const List& list) {
    Elements elements;
    for (auto at = list.CursorAt(0); at.valid(); at.Next()) elements.emplace_back(at.element());
    return elements;
  }

  static Scores ScoresOf(const SortedSet& set) {
    Scores scores;
    for (auto at = set.At(0); at.valid(); at.Next()) {
      scores.emplace(at.element().member, at.element().score);
    }
    return scores;
  }

  static void ExpectSame(const Entry& entry, const Expected& expected) {
    EXPECT_EQ(entry.deadline(), expected.deadline);
    EXPECT_FALSE(entry.IsEmptyAggregate());
    if (const auto* text = std::get_if<std::string>(&expected.value)) {
      ASSERT_TRUE(entry.Holds<ByteString>());
      EXPECT_EQ(entry.GetIf<ByteString>()->view(), *text);
      EXPECT_GE(entry.BytesUsed(), entry.key().size() + text->size());
    } else if (const auto* elements = std::get_if<Elements>(&expected.value)) {
      ASSERT_TRUE(entry.Holds<List>());
      EXPECT_EQ(ElementsOf(*entry.GetIf<List>()), *elements);
    } else {
      ASSERT_TRUE(entry.Holds<SortedSet>());
      EXPECT_EQ(ScoresOf(*entry.GetIf<SortedSet>()), std::get<Scores>(expected.value));
    }
  }

  void ExpectSame() {
    size_t visited = 0;
    database.keys().ForEach([&](const Entry& entry) {
      ++visited;
      const auto expected = model.find(std::string(entry.key()));
      ASSERT_NE(expected, model.end()) << entry.key();
      EXPECT_EQ(database.Find(entry.key()), &entry);
      ExpectSame(entry, expected->second);
    });
    EXPECT_EQ(visited, model.size());
    const auto with_deadline = std::ranges::count_if(
        model, [](const auto& pair) { return pair.second.deadline.has_value(); });
    const size_t due = database.keys().size() - model.size();
    EXPECT_EQ(database.keys().with_deadline(), with_deadline + due);
  }

  // Lengths around those at which the layout of an entry changes, and some far longer ones.
  static std::vector<std::string> Keys() {
    std::vector<std::string> keys;
    for (const size_t length : {0, 1, 5, 8, 13, 14, 20, 100, 126, 127, 128, 255, 256, 70'000}) {
      keys.emplace_back(length, 'k');
    }
    return keys;
  }

  Rng rng{GetParam()};
  Database database{0, /*hash_seed=*/7, [](const Change&) {}};
  const std::vector<std::string> keys = Keys();
  std::map<std::string, Expected> model;
};

TEST_P(DatabaseBesideMaps, BehavesLikeTheMaps) {
  SCOPED_TRACE(GetParam());
  for (int step = 0; step < 10'000; ++step) {
    SCOPED_TRACE(step);
    ASSERT_NO_FATAL_FAILURE(Step());
    if (step % 10 != 0) continue;
    ExpectSame();
    if (HasFailure()) return;
  }
  database.AdvanceTo(database.now() + Millis(1'000));
  while (database.ReclaimDue(10) > 0) continue;
  EXPECT_EQ(database.keys().with_deadline(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, DatabaseBesideMaps, testing::Range<uint64_t>(1, 5));

}  // namespace
}  // namespace zsetd
