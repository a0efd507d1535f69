#include "core/deadlines.h"

#include <cassert>

namespace zsetd {

Deadlines& Deadlines::operator=(Deadlines&& other) noexcept {
  index_ = std::move(other.index_);
  other.index_.clear();
  sum_ = std::exchange(other.sum_, 0);
  return *this;
}

void Deadlines::Add(Millis deadline, Entry& entry) {
  index_.emplace(deadline, &entry);
  sum_ += deadline.count();
}

void Deadlines::Remove(Millis deadline, Entry& entry) {
  [[maybe_unused]] const size_t removed = index_.erase({deadline, &entry});
  assert(removed == 1);
  sum_ -= deadline.count();
}

Millis Deadlines::Mean() const {
  return index_.empty() ? Millis(0) : Millis(sum_ / static_cast<__int128>(index_.size()));
}

Entry* Deadlines::Earliest() const { return index_.empty() ? nullptr : index_.begin()->second; }

Entry* Deadlines::Latest() const { return index_.empty() ? nullptr : index_.rbegin()->second; }

}  // namespace zsetd
