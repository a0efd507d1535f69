#include "server/cluster/migration/slot_copy.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/hashing/key_slot.h"
#include "protocol/rdb/dump_payload.h"
#include "protocol/rdb/rdb_format.h"
#include "protocol/rdb/rdb_writer.h"
#include "protocol/resp/request_writer.h"
#include "protocol/text/number_text.h"
#include "server/engine/store/rdb_value_writer.h"

namespace zsetd {

SlotCopy::SlotCopy(const Engine& engine, const SlotSet& slots, Send send)
    : engine_(engine), slots_(slots), send_(std::move(send)), remaining_(slots) {
  SkipEmptySlots();
}

void SlotCopy::SkipEmptySlots() {
  while (!remaining_.empty() && keys().CountInSlot(remaining_.First()) == 0) {
    remaining_.Erase(remaining_.First());
  }
  cursor_ = remaining_.empty() ? 0 : remaining_.First();
}

bool SlotCopy::IsCopied(std::string_view key) const {
  const size_t slot = KeySlot(key);
  assert(slots_.Contains(slot));
  if (!remaining_.Contains(slot) || copied_early_.contains(key)) return true;
  const bool has_begun = cursor_ >= kSlotCount;
  return has_begun && slot == cursor_ % kSlotCount && keys().HasPassed(cursor_, key);
}

void SlotCopy::Step() {
  assert(!IsDone());
  const size_t slot = remaining_.First();
  const uint64_t next = keys().ScanEvenDue(cursor_, [&](const Entry& entry) {
    if (!IsCopied(entry.key())) SendKey(entry);
  });
  if (next != 0 && next % kSlotCount == slot && next != slot) {
    cursor_ = next;
    return;
  }
  remaining_.Erase(slot);
  copied_early_.clear();
  SkipEmptySlots();
}

// The target keeps a key whose time is over until an effect of this node deletes it.
void SlotCopy::SendKey(const Entry& entry) {
  std::string payload;
  RdbWriter writer(payload, engine_.settings().rdbcompression);
  WriteDump(entry, writer);
  SealPayload(payload, DumpVersion(entry));
  const std::string deadline = std::to_string(entry.deadline().value_or(Millis(0)).count());
  send_(EncodeRequest({"RESTORE", entry.key(), deadline, payload, "REPLACE", "ABSTTL"}));
}

void SlotCopy::AddEffect(Args request, std::span<const std::string_view> keys) {
  const auto is_mixed = [&](std::string_view key) { return mixed_.contains(key); };
  const auto is_copied = [&](std::string_view key) { return IsCopied(key); };
  const bool has_mixed = std::ranges::any_of(keys, is_mixed);
  if (!has_mixed) {
    if (std::ranges::none_of(keys, is_copied)) return;
    if (std::ranges::all_of(keys, is_copied)) return unit_.push_back(EncodeRequest(request));
  }
  for (const std::string_view key : keys) mixed_.emplace(key);
}

void SlotCopy::EndUnit() {
  if (unit_.empty() && mixed_.empty()) return;
  const bool is_transaction = unit_.size() + mixed_.size() > 1;
  if (is_transaction) send_(EncodeRequest({"MULTI"}));
  for (const std::string& request : unit_) send_(request);
  for (const std::string& key : mixed_) {
    const Entry* entry = keys().FindEvenDue(key);
    entry == nullptr ? send_(EncodeRequest({"DEL", key})) : SendKey(*entry);
    if (remaining_.Contains(KeySlot(key))) copied_early_.insert(key);
  }
  if (is_transaction) send_(EncodeRequest({"EXEC"}));
  unit_.clear();
  mixed_.clear();
}

}  // namespace zsetd
