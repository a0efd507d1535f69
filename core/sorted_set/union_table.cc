#include "core/sorted_set/union_table.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <new>
#include <span>

#include "core/hashing/keyed_hash.h"
#include "core/sorted_set/sorted_set_builder.h"
#include "core/util/cache_line.h"

namespace zsetd {
namespace {

size_t SlotsFor(size_t records) { return std::bit_ceil(2 * records + 2); }

}  // namespace

UnionTable::UnionTable(size_t expected)
    : slots_(SlotsFor(expected + kBatch)),
      waiting_text_(kBatchBytes + SortedSet::Cursor::kTooMany, '\0') {
  records_.reserve(expected);
}

void UnionTable::BeginInput(const ScoreFold& fold) {
  SettleWaiting();
  fold_ = &fold;
}

// Adds a waiting member and returns the address for its bytes.
char* UnionTable::Await(size_t size, double score) {
  assert(fold_ != nullptr);
  const size_t room = size + SortedSet::Cursor::kTooMany;
  if (waiting_count_ == kBatch || waiting_bytes_ + size > kBatchBytes) SettleWaiting();
  if (waiting_bytes_ + room > waiting_text_.size()) waiting_text_.resize(room);
  waiting_[waiting_count_++] = {0, score, waiting_bytes_, size};
  waiting_bytes_ += size;
  return waiting_text_.data() + waiting_bytes_ - size;
}

// Hashes the members together and not on arrival: loads wider than the preceding stores would stall
// on store forwarding.
void UnionTable::HashWaiting() {
  for (Waiting& element : std::span(waiting_).first(waiting_count_)) {
    element.hash = KeyedHash(element.MemberIn(waiting_text_));
    PrefetchLine(&FirstSlotOf(element.hash));
  }
}

void UnionTable::SettleWaiting() {
  if (slots_.size() < SlotsFor(records_.size() + kBatch)) GrowSlots();
  HashWaiting();
  const std::span<const Waiting> elements(waiting_.data(), waiting_count_);
  for (const Waiting& element : elements) {
    Record* record = FirstSlotOf(element.hash).record;
    if (record == nullptr) continue;
    PrefetchLine(record);
    PrefetchLine(record->bytes() + std::min(element.size, kCacheLine));  // often another line
  }
  for (const Waiting& element : elements) Settle(element);
  waiting_count_ = 0;
  waiting_bytes_ = 0;
}

void UnionTable::Settle(const Waiting& element) {
  const std::string_view member = element.MemberIn(waiting_text_);
  Slot* slot = &FirstSlotOf(element.hash);
  for (; slot->record != nullptr; slot = SlotAfter(slot)) {
    if (slot->hash == element.hash && slot->record->Is(member)) {
      slot->record->score = fold_->Next(slot->record->score, element.score);
      return;
    }
  }
  *slot = {element.hash, NewRecord(member, fold_->First(element.score))};
}

UnionTable::Record* UnionTable::NewRecord(std::string_view member, double score) {
  Record* record = new (arena_.Take(sizeof(Record) + member.size())) Record{score, member.size()};
  std::copy(member.begin(), member.end(), record->bytes());
  records_.push_back(record);
  return record;
}

void UnionTable::GrowSlots() {
  std::vector<Slot> old(2 * slots_.size());
  old.swap(slots_);
  for (const Slot& moved : old) {
    if (moved.record == nullptr) continue;
    Slot* slot = &FirstSlotOf(moved.hash);
    while (slot->record != nullptr) slot = SlotAfter(slot);
    *slot = moved;
  }
}

SortedSet UnionTable::Build() {
  SettleWaiting();
  SortedSetBuilder builder;
  for (Record* record : records_) builder.AddView(record->member(), record->score);
  return *builder.Build();
}

}  // namespace zsetd
