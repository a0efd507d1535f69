#include "core/deadlines.h"

#include <cassert>

namespace zsetd {

void Deadlines::Add(Millis deadline, Entry& entry) { index_.emplace(deadline, &entry); }

void Deadlines::Remove(Millis deadline, Entry& entry) {
  [[maybe_unused]] const size_t removed = index_.erase({deadline, &entry});
  assert(removed == 1);
}

Entry* Deadlines::Earliest() const { return index_.empty() ? nullptr : index_.begin()->second; }

Entry* Deadlines::Latest() const { return index_.empty() ? nullptr : index_.rbegin()->second; }

}  // namespace zsetd
