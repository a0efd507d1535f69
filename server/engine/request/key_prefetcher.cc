#include "server/engine/request/key_prefetcher.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/hashing/keyed_hash.h"
#include "core/sorted_set/sorted_set.h"
#include "server/engine/command/request_keys.h"
#include "server/engine/store/database.h"

namespace zsetd {
namespace {

// Keys, or members of a set: fewer stay in a core's own cache through use.
constexpr size_t kMany = 10'000;

constexpr size_t kRest = 31;

// The most keys of one request: with many more, the first ones would leave the cache before their
// use.
constexpr size_t kMostKeys = 64;

}  // namespace

void KeyPrefetcher::Add(const Database& database, const CommandTable& commands,
                        std::span<const Args> requests) {
  if (rest_ > 0) return void(passed_over_ = true);
  if (keys_.empty()) database_ = &database;
  if (database_ != &database) return;
  for (const Args argv : requests) {
    const Command* command = commands.Find(argv);
    if (command != nullptr && command->AcceptsCount(argv.size())) Add(*command, argv);
  }
}

// The use of a script's keys is unknown: the first one is looked up, and if it is a sorted set its
// start is prefetched.
void KeyPrefetcher::Add(const Command& command, Args argv) {
  if (command.has_one_key) [[likely]]
    return AddFirst(command, argv, 1);
  const RequestKeys found = FindKeys(command, argv);
  auto at = found.begin();
  if (at == found.end()) return;
  AddFirst(command, argv, *at);
  ++at;
  for (size_t left = kMostKeys - 1; left > 0 && at != found.end(); --left, ++at) {
    keys_.push_back(argv[*at]);
  }
}

void KeyPrefetcher::AddFirst(const Command& command, Args argv, size_t key_at) {
  if (keys_.empty() || keys_.back() != argv[key_at]) keys_.push_back(argv[key_at]);
  if (command.group == CommandGroup::kSortedSet) {
    uses_.push_back({keys_.size() - 1, argv[command.member_at]});
    if (command.member_at == 0) uses_.back().member = {};
  } else if (command.group == CommandGroup::kScripting) {
    uses_.push_back({.key = keys_.size() - 1, .member = {}});
  }
}

void KeyPrefetcher::Fetch() {
  if (rest_ > 0) return void(rest_ -= std::exchange(passed_over_, false));
  if (keys_.size() < 2 && uses_.size() < 2) return Forget();
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

void KeyPrefetcher::FindSets() {
  assert(database_ != nullptr);
  const Use* before = nullptr;
  for (Use& use : uses_) {
    const bool again = before != nullptr && before->key == use.key;
    const Entry* entry = again ? nullptr : database_->Find(keys_[use.key]);
    use.set = again ? before->set : entry ? entry->GetIf<SortedSet>() : nullptr;
    if (!again && use.set != nullptr) use.set->PrefetchStart();
    before = &use;
  }
}

void KeyPrefetcher::FindMembers() {
  members_.clear();
  for (const Use& use : uses_) {
    if (use.set == nullptr || use.member.data() == nullptr || use.set->size() <= kMany) continue;
    members_.push_back({use.set, KeyedHash(use.member)});
  }
}

void KeyPrefetcher::Forget() {
  keys_.clear();
  uses_.clear();
}

}  // namespace zsetd
