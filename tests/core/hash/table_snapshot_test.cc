// A snapshot of a table shows one instant, whatever changes the table receives.
#include "core/hash/table_snapshot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "core/hash/field_table.h"
#include "core/sorted_set/sorted_set.h"
#include "core/util/rng.h"

namespace zsetd::table_snapshot_test {
namespace {

// The values of fields, and the deadlines of those that have one.
using Fields = std::map<std::string, std::pair<std::string, std::optional<Millis>>>;

Fields FieldsOf(const FieldTable& table) {
  Fields fields;
  table.ForEach([&](const Field& field) {
    fields[std::string(field.name)].first = std::string(field.value);
  });
  if (table.deadlines() == nullptr) return fields;
  for (auto at = table.deadlines()->At(0); at.valid(); at.Next()) {
    fields[std::string(at.member())].second = Millis(static_cast<int64_t>(at.score()));
  }
  return fields;
}

std::optional<Millis> EarliestDeadline(const Fields& fields) {
  std::optional<Millis> earliest;
  for (const auto& [name, field] : fields) {
    if (field.second) earliest = std::min(earliest.value_or(*field.second), *field.second);
  }
  return earliest;
}

// Fails if a field occurs twice.
void Step(TableSnapshot& snapshot, Fields& fields) {
  snapshot.Step([&](const Field& field, std::optional<Millis> deadline) {
    const bool is_first =
        fields.try_emplace(std::string(field.name), std::string(field.value), deadline).second;
    EXPECT_TRUE(is_first) << field.name;
  });
}

TEST(TableSnapshot, ContainsTheFieldsOfItsInstantDespiteLaterChanges) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  for (int round = 0; round < 60; ++round) {
    FieldTable table;
    const uint64_t names = 200 + rng.Below(2000);
    // In some rounds most changes are removals, so that buckets merge; in others most are
    // additions.
    const uint64_t removals = rng.Below(100);
    const auto name = [&] { return "f" + std::to_string(rng.Below(names)); };
    for (uint64_t left = names; left > 0; --left) table.Set({.name = name(), .value = "old"});
    const uint64_t deadlines = round % 2 == 0 ? 0 : rng.Below(40);  // percent
    const auto change_deadline = [&] {
      const std::string field = name();
      if (!table.Find(field)) return;
      const bool removes = rng.Below(3) == 0;
      table.SetDeadline(field, removes ? std::nullopt : std::optional(Millis(rng.Below(9999) + 1)));
    };
    for (uint64_t left = names * deadlines / 100; left > 0; --left) change_deadline();
    const Fields expected = FieldsOf(table);
    std::unique_ptr<TableSnapshot> snapshot = table.StartSnapshot();
    if (snapshot == nullptr) continue;
    EXPECT_EQ(snapshot->size(), expected.size());
    EXPECT_EQ(snapshot->earliest_deadline(), EarliestDeadline(expected));
    Fields shown;
    while (!snapshot->done()) {
      for (uint64_t left = rng.Below(6); left > 0; --left) {
        if (rng.Below(4) == 0) change_deadline();
        if (rng.Below(100) < removals) {
          table.Erase(name());
        } else {
          table.Set({.name = name(), .value = std::to_string(rng.Next())});
        }
      }
      if (rng.Below(400) == 0) {
        FieldTable moved = std::move(table);
        table = std::move(moved);
      }
      if (rng.Below(2000) == 0) table = FieldTable();
      Step(*snapshot, shown);
    }
    ASSERT_EQ(shown, expected) << "round " << round;
  }
}

TEST(TableSnapshot, MayEndEarlyAndBeTakenAgain) {
  FieldTable table;
  for (int i = 0; i < 500; ++i) table.Set({.name = std::to_string(i), .value = "v"});
  Fields shown;
  {
    const auto snapshot = table.StartSnapshot();
    Step(*snapshot, shown);
    for (int i = 0; i < 500; i += 3) table.Erase(std::to_string(i));
  }
  const Fields expected = FieldsOf(table);
  const auto again = table.StartSnapshot();
  for (int i = 0; i < 500; ++i) table.Erase(std::to_string(i));
  shown.clear();
  while (!again->done()) Step(*again, shown);
  EXPECT_EQ(shown, expected);
}

TEST(TableSnapshot, ASmallTableIsWrittenWhole) {
  FieldTable table;
  table.Set({.name = "a", .value = "1"});
  EXPECT_EQ(table.StartSnapshot(), nullptr);
}

}  // namespace
}  // namespace zsetd::table_snapshot_test
