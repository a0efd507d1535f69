#include "server/commands/common/member_payloads.h"

#include <deque>
#include <string>

#include "core/sorted_set/sorted_set.h"
#include "server/engine/propagation/effects.h"

namespace zsetd {
namespace {

constexpr size_t kMostRequestBytes = 1u << 20;  // a request with more has one member

}  // namespace

void PropagatedPayloads::Add(std::string_view member, std::optional<std::string_view> payload) {
  if (!call_.Propagates()) return;
  const size_t bytes = member.size() + payload.value_or("").size();
  const bool is_full = words_.size() >= Effects::kMostItems || bytes_ + bytes > kMostRequestBytes;
  if (!words_.empty() && (is_full || deletes_ == payload.has_value())) Flush();
  if (words_.empty()) {
    deletes_ = !payload;
    words_ = {deletes_ ? "ZDELDATA" : "ZSETDATA", key_};
  }
  words_.push_back(member);
  if (payload) words_.push_back(*payload);
  bytes_ += bytes;
}

void PropagatedPayloads::Flush() {
  if (!words_.empty()) call_.PropagatePrivate(words_);
  words_.clear();
  bytes_ = 0;
}

void PropagateMemberPayloads(Call& call, std::string_view key) {
  const Entry* entry = call.Propagates() ? call.keys.all().Find(key) : nullptr;
  const SortedSet* set = entry == nullptr ? nullptr : entry->GetIf<SortedSet>();
  if (set == nullptr || !set->HasPayloads()) return;
  std::deque<std::string> members;  // a cursor's member is only valid until it moves
  PropagatedPayloads payloads(call, key);
  for (auto at = set->At(0); at.valid(); at.Next()) {
    if (const auto payload = at.payload()) payloads.Add(members.emplace_back(at.member()), payload);
  }
}

}  // namespace zsetd
