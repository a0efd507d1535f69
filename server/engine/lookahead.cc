#include "server/engine/lookahead.h"

#include <utility>

#include "core/keyed_hash.h"
#include "server/engine/database.h"

namespace zsetd {
namespace {

// Keys, or members of a set: fewer stay in a core's own cache by being used.
constexpr size_t kMany = 10'000;

constexpr size_t kRest = 31;

}  // namespace

void Lookahead::Fetch(const Database& database, const CommandTable& commands,
                      std::span<const Words> requests) {
  if (rest_ > 0) return void(--rest_);
  FindKeys(commands, requests);
  const bool many_keys = database.keys().size() > kMany;
  if (many_keys) database.keys().Prefetch(keys_);
  FindMembers(database);
  for (const auto step : {PrefetchStep::kIndex, PrefetchStep::kBlock, PrefetchStep::kElement}) {
    for (const Member& member : members_) member.set->Prefetch(member.hash, step);
  }
  if (!many_keys && members_.empty()) rest_ = kRest;
}

void Lookahead::FindKeys(const CommandTable& commands, std::span<const Words> requests) {
  keys_.clear();
  names_.clear();
  for (const Words words : requests) {
    const Command* command = commands.Find(words);
    if (command == nullptr || !command->AcceptsCount(words.size())) continue;
    if (command->keys.first == 0 || command->keys.are_channels) continue;
    const std::string_view key = words[command->keys.first];
    keys_.push_back(key);
    if (command->member_at > 0) names_.push_back({key, words[command->member_at]});
  }
}

void Lookahead::FindMembers(const Database& database) {
  members_.clear();
  for (const Name& name : names_) {
    const Entry* entry = database.Find(name.key);
    const SortedSet* set = entry ? entry->GetIf<SortedSet>() : nullptr;
    if (set != nullptr && set->size() > kMany) {
      members_.push_back({set, KeyedHash(name.member)});
    }
  }
}

}  // namespace zsetd
