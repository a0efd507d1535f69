#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bench/sorted_set/textbook_skip_list.h"
#include "bench/sorted_set/textbook_string.h"

namespace zsetd::bench {

// The other half of the yardstick: a chained hash table from member to node, with an allocation per
// entry. A full table is replaced by one of twice the size; each change then moves one bucket.
class TextbookDict {
 public:
  using Node = TextbookSkipList::Node;

  TextbookDict() : tables_{Table(4, nullptr), Table()} {}
  TextbookDict(const TextbookDict&) = delete;
  TextbookDict& operator=(const TextbookDict&) = delete;
  ~TextbookDict();  // also frees the members

  Node* Find(std::string_view member) const;
  void Insert(TextbookString* member, Node* node);
  void Remove(std::string_view member);  // also frees it

 private:
  struct Entry {
    TextbookString* member;
    Node* node;
    Entry* next;
  };
  using Table = std::vector<Entry*>;

  bool growing() const { return !tables_[1].empty(); }
  void MoveOneBucket();

  Table tables_[2];  // the second only while growing
  size_t moved_ = 0;
  size_t size_ = 0;
};

}  // namespace zsetd::bench
