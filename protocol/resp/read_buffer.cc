#include "protocol/resp/read_buffer.h"

#include <algorithm>
#include <utility>

namespace zsetd {
namespace {

constexpr size_t kKept = 64u << 10;  // a buffer of this size is never freed

size_t InWholeSteps(size_t bytes) {
  return (bytes + ReadBuffer::kLeastSpace - 1) / ReadBuffer::kLeastSpace * ReadBuffer::kLeastSpace;
}

// Room for twice the unread bytes, but at most the needed ones; in whole steps.
size_t WantedCapacity(size_t unread, size_t needed) {
  const size_t steps = 2 * unread / ReadBuffer::kLeastSpace;
  const size_t doubled = (steps + (unread == 0 ? 1 : 2)) * ReadBuffer::kLeastSpace;
  if (needed <= unread) return doubled;
  return std::min(doubled, InWholeSteps(needed + ReadBuffer::kLeastSpace));
}

}  // namespace

// The cost of every move is amortized. After a move into a larger block, as many bytes as were
// moved must arrive before the next move. Before any other move, more bytes than are moved have
// been taken.
std::span<char> ReadBuffer::Space(size_t needed, const Moved& moved) {
  const size_t wanted = WantedCapacity(unread().size(), needed);
  const bool wasteful = capacity_ > kKept && capacity_ >= 2 * wanted;
  const bool full = capacity_ - arrived_ < kLeastSpace;
  if (wasteful || (full && capacity_ < wanted)) {
    Reallocate(wanted, moved);
  } else if (full || unread().empty()) {
    MoveToFront(moved);
  }
  return {bytes_.get() + arrived_, capacity_ - arrived_};
}

void ReadBuffer::Shrink(const Moved& moved) {
  if (unread().empty()) {
    *this = ReadBuffer();
    return;
  }
  const size_t least = InWholeSteps(unread().size());
  if (capacity_ > least) Reallocate(least, moved);
}

void ReadBuffer::MoveToFront(const Moved& moved) {
  std::copy_n(bytes_.get() + taken_, unread().size(), bytes_.get());
  moved(bytes_.get() + taken_, bytes_.get());
  arrived_ -= std::exchange(taken_, 0);
}

void ReadBuffer::Reallocate(size_t capacity, const Moved& moved) {
  // Not make_unique, which would zero the block before it is overwritten.
  auto bytes = std::make_unique_for_overwrite<char[]>(capacity);
  std::copy_n(bytes_.get() + taken_, unread().size(), bytes.get());
  moved(bytes_.get() + taken_, bytes.get());
  bytes_ = std::move(bytes);
  capacity_ = capacity;
  arrived_ -= std::exchange(taken_, 0);
}

}  // namespace zsetd
