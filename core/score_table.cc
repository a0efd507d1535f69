#include "core/score_table.h"

#include <algorithm>
#include <bit>
#include <new>
#include <span>

#include "core/cache_line.h"
#include "core/keyed_hash.h"

namespace zsetd {
namespace {

size_t SlotsFor(size_t records) { return std::bit_ceil(2 * records + 2); }

}  // namespace

ScoreTable::ScoreTable(Combine combine, size_t expected)
    : combine_(combine), slots_(SlotsFor(expected + kBatch)) {
  records_.reserve(expected);
}

void ScoreTable::Add(std::string_view member, double score) {
  waiting_[waiting_count_++] = {KeyedHash(member), score, waiting_text_.size(), member.size()};
  waiting_text_ += member;
  if (waiting_count_ == kBatch || waiting_text_.size() > kBatchBytes) SettleWaiting();
}

void ScoreTable::SettleWaiting() {
  if (slots_.size() < SlotsFor(records_.size() + kBatch)) GrowSlots();
  const std::span<const Waiting> elements(waiting_.data(), waiting_count_);
  for (const Waiting& element : elements) FetchLine(&FirstSlotOf(element.hash));
  for (const Waiting& element : elements) {
    Record* record = FirstSlotOf(element.hash).record;
    if (record == nullptr) continue;
    FetchLine(record);
    FetchLine(record->bytes() + std::min(element.size, kCacheLine));  // it may cross a border
  }
  for (const Waiting& element : elements) Settle(element);
  waiting_count_ = 0;
  waiting_text_.clear();
}

void ScoreTable::Settle(const Waiting& element) {
  const auto member = std::string_view(waiting_text_).substr(element.start, element.size);
  Slot* slot = &FirstSlotOf(element.hash);
  for (; slot->record != nullptr; slot = SlotAfter(slot)) {
    if (slot->hash == element.hash && slot->record->member() == member) {
      slot->record->score = combine_(slot->record->score, element.score);
      return;
    }
  }
  *slot = {element.hash, NewRecord(member, element.score)};
}

ScoreTable::Record* ScoreTable::NewRecord(std::string_view member, double score) {
  Record* record = new (arena_.Take(sizeof(Record) + member.size())) Record{score, member.size()};
  std::copy(member.begin(), member.end(), record->bytes());
  records_.push_back(record);
  return record;
}

void ScoreTable::GrowSlots() {
  std::vector<Slot> old(2 * slots_.size());
  old.swap(slots_);
  for (const Slot& moved : old) {
    if (moved.record == nullptr) continue;
    Slot* slot = &FirstSlotOf(moved.hash);
    while (slot->record != nullptr) slot = SlotAfter(slot);
    *slot = moved;
  }
}

SortedSet ScoreTable::Build() {
  SettleWaiting();
  std::vector<Element> elements;
  elements.reserve(records_.size());
  for (Record* record : records_) elements.push_back({record->member(), record->score});
  return SortedSet::Of(elements);
}

}  // namespace zsetd
