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

void Lookahead::Add(const Database& database, const CommandTable& commands,
                    std::span<const Words> requests) {
  if (rest_ > 0) return;
  if (keys_.empty()) database_ = &database;
  if (database_ != &database) return;
  for (const Words words : requests) Add(commands, words);
}

void Lookahead::Add(const CommandTable& commands, Words words) {
  const Command* command = commands.Find(words);
  if (command == nullptr || !command->AcceptsCount(words.size())) return;
  if (command->keys.first == 0 || command->keys.are_channels) return;
  const std::string_view key = words[command->keys.first];
  if (keys_.empty() || keys_.back() != key) keys_.push_back(key);
  if (command->member_at > 0) names_.push_back({keys_.size() - 1, words[command->member_at]});
}

void Lookahead::Fetch() {
  if (rest_ > 0) return void(--rest_);
  if (keys_.size() < 2 && names_.size() < 2) return Forget();
  const bool many_keys = database_->keys().size() > kMany;
  if (many_keys) database_->keys().Prefetch(keys_);
  FindSets();
  FindMembers();
  for (const auto step : {PrefetchStep::kIndex, PrefetchStep::kBlock, PrefetchStep::kElement}) {
    for (const Member& member : members_) member.set->Prefetch(member.hash, step);
  }
  if (!many_keys && members_.empty()) rest_ = kRest;
  Forget();
}

void Lookahead::FindSets() {
  sets_.clear();
  for (const std::string_view key : keys_) {
    const Entry* entry = database_->Find(key);
    sets_.push_back(entry ? entry->GetIf<SortedSet>() : nullptr);
    if (sets_.back() != nullptr) sets_.back()->PrefetchStart();
  }
}

void Lookahead::FindMembers() {
  members_.clear();
  for (const Name& name : names_) {
    const SortedSet* set = sets_[name.key];
    if (set != nullptr && set->size() > kMany) members_.push_back({set, KeyedHash(name.member)});
  }
}

void Lookahead::Forget() {
  keys_.clear();
  names_.clear();
}

}  // namespace zsetd
