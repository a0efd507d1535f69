// How a Dictionary visits its nodes: all, bucket by bucket, or by chance. Comes with dictionary.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/hashing/dictionary.h"
#include "core/util/rng.h"

namespace zsetd {

template <class Node>
template <class Visit>
void Dictionary<Node>::ForEach(Visit visit) const {
  for (size_t number = 0; number < numbers_.count(); ++number) {
    for (const Node* node = buckets_[number]; node != nullptr; node = node->next()) visit(*node);
  }
}

template <class Node>
template <class Visit>
void Dictionary<Node>::ForEachChain(Visit&& visit) const {
  for (size_t number = 0; number < numbers_.count(); ++number) {
    size_t length = 0;
    for (const Node* node = buckets_[number]; node != nullptr; node = node->next()) ++length;
    visit(length);
  }
}

template <class Node>
template <class Visit>
uint64_t Dictionary<Node>::Scan(uint64_t cursor, Visit visit) const {
  if (numbers_.count() == 0) return 0;
  const Node* node = buckets_[numbers_.NumberOf(cursor)];
  for (; node != nullptr; node = node->next()) visit(*node);
  return numbers_.CursorAfter(cursor);
}

template <class Node>
const Node* Dictionary<Node>::Random(Rng& rng) const {
  while (size_ > 0) {
    const Node* node = buckets_[rng.Below(numbers_.count())];
    size_t length = 0;
    for (const Node* next = node; next != nullptr; next = next->next()) ++length;

    // A chain is taken as often as it is long, or else the keys of short ones would come too often.
    size_t drawn = rng.Below(std::max(length, kUsualChain));
    if (drawn >= length) continue;
    while (drawn-- > 0) node = node->next();
    return node;
  }
  return nullptr;
}

template <class Node>
template <class Visit>
void Dictionary<Node>::Sample(Rng& rng, size_t enough, size_t most, Visit visit) const {
  if (size_ == 0) return;
  const size_t start = rng.Below(numbers_.count());
  for (size_t step = 0; step < numbers_.count(); ++step) {
    const Node* node = buckets_[(start + step) % numbers_.count()];
    for (; node != nullptr; node = node->next()) {
      if (enough == 0 || most == 0) return;
      enough -= visit(*node);
      --most;
    }
  }
}

}  // namespace zsetd
