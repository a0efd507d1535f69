#include "bench/sorted_set/textbook_dict.h"

#include <utility>

#include "core/hashing/keyed_hash.h"

namespace zsetd::bench {

TextbookDict::~TextbookDict() {
  for (const Table& table : tables_) {
    for (Entry* entry : table) {
      while (entry != nullptr) {
        TextbookString::Free(entry->member);
        delete std::exchange(entry, entry->next);
      }
    }
  }
}

TextbookDict::Node* TextbookDict::Find(std::string_view member) const {
  const uint64_t hash = KeyedHash(member);
  for (const Table& table : tables_) {
    if (table.empty()) break;
    for (Entry* entry = table[hash & (table.size() - 1)]; entry != nullptr; entry = entry->next) {
      if (entry->member->view() == member) return entry->node;
    }
  }
  return nullptr;
}

void TextbookDict::Insert(TextbookString* member, Node* node) {
  MoveOneBucket();
  if (!growing() && size_ >= tables_[0].size()) {
    tables_[1].resize(2 * tables_[0].size());
    moved_ = 0;
  }
  Table& table = tables_[growing() ? 1 : 0];
  Entry*& bucket = table[KeyedHash(member->view()) & (table.size() - 1)];
  bucket = new Entry{member, node, bucket};
  ++size_;
}

void TextbookDict::Remove(std::string_view member) {
  MoveOneBucket();
  const uint64_t hash = KeyedHash(member);
  for (Table& table : tables_) {
    if (table.empty()) break;
    for (Entry** at = &table[hash & (table.size() - 1)]; *at != nullptr; at = &(*at)->next) {
      if ((*at)->member->view() != member) continue;
      Entry* gone = std::exchange(*at, (*at)->next);
      TextbookString::Free(gone->member);
      delete gone;
      --size_;
      return;
    }
  }
}

void TextbookDict::MoveOneBucket() {
  if (!growing()) return;
  Table& to = tables_[1];
  for (Entry* entry = std::exchange(tables_[0][moved_], nullptr); entry != nullptr;) {
    Entry* next = entry->next;
    Entry*& bucket = to[KeyedHash(entry->member->view()) & (to.size() - 1)];
    entry->next = std::exchange(bucket, entry);
    entry = next;
  }
  if (++moved_ < tables_[0].size()) return;
  tables_[0] = std::move(tables_[1]);
  tables_[1] = Table();
}

}  // namespace zsetd::bench
