#include "server/engine/command/command_categories.h"

#include <algorithm>

#include "server/engine/support/ascii_case.h"
#include "server/engine/support/split.h"

namespace zsetd {
namespace {

constexpr std::string_view kCategories[] = {
    "keyspace", "read",   "write",       "set",       "sortedset",  "list",        "hash",
    "string",   "bitmap", "hyperloglog", "geo",       "stream",     "pubsub",      "admin",
    "fast",     "slow",   "blocking",    "dangerous", "connection", "transaction", "scripting",
};

// The category of the command's group; empty if it has none, as if there are only its subcommands.
std::string_view GroupCategory(const Command& command) {
  if (command.run == nullptr) return "";
  const bool uses_keys = command.Has(kWrite) || command.Has(kReadOnly);
  switch (command.group) {
    case CommandGroup::kString:
      return "@string";
    case CommandGroup::kBitmap:
      return "@bitmap";
    case CommandGroup::kHyperLogLog:
      return "@hyperloglog";
    case CommandGroup::kList:
      return "@list";
    case CommandGroup::kHash:
      return "@hash";
    case CommandGroup::kSet:
      return "@set";
    case CommandGroup::kSortedSet:
      return "@sortedset";
    case CommandGroup::kGeo:
      return "@geo";
    case CommandGroup::kStream:
      return "@stream";
    case CommandGroup::kGeneric:
      return "@keyspace";
    case CommandGroup::kTransactions:
      return "@transaction";
    case CommandGroup::kConnection:
      return "@connection";
    case CommandGroup::kScripting:
      return "@scripting";
    case CommandGroup::kServer:
      return uses_keys && command.keys.first == 0 ? "@keyspace" : "";  // all of them
    case CommandGroup::kPubSub:
    case CommandGroup::kCluster:
      return "";  // from their flags
  }
  return "";
}

}  // namespace

std::span<const std::string_view> AllCategories() { return kCategories; }

std::optional<std::string_view> FindCategory(std::string_view name) {
  const auto* found = std::ranges::find_if(
      kCategories, [&](std::string_view each) { return EqualsIgnoringCase(each, name); });
  return found == std::end(kCategories) ? std::nullopt : std::optional(*found);
}

std::vector<std::string_view> CategoriesOf(const Command& command) {
  std::vector<std::string_view> categories;
  const auto add_if = [&](bool belongs, std::string_view category) {
    if (belongs && !category.empty()) categories.push_back(category);
  };
  add_if(command.Has(kWrite), "@write");
  add_if(command.Has(kReadOnly) && command.group != CommandGroup::kScripting, "@read");
  if (command.categories) {
    for (const std::string_view category : Split(*command.categories, ' ')) add_if(true, category);
  } else {
    add_if(true, GroupCategory(command));
  }
  add_if(command.Has(kConnectionCategory), "@connection");
  add_if(command.Has(kPubSub), "@pubsub");
  add_if(command.Has(kAdmin), "@admin");
  add_if(true, command.Has(kFast) ? "@fast" : "@slow");
  add_if(command.Has(kBlocking), "@blocking");
  add_if(command.Has(kAdmin) || command.Has(kDangerous), "@dangerous");
  return categories;
}

bool IsIn(const Command& command, std::string_view category) {
  return std::ranges::any_of(CategoriesOf(command), [&](std::string_view each) {
    return EqualsIgnoringCase(each.substr(1), category);
  });
}

}  // namespace zsetd
