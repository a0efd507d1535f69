#include "protocol/resp/output_buffer.h"

#include <algorithm>
#include <cstring>

namespace zsetd {
namespace {

constexpr size_t kLeastCapacity = 64;

}  // namespace

void OutputBuffer::Grow(size_t bytes) {
  const size_t capacity = std::max({kLeastCapacity, 2 * capacity_, size_ + bytes + kSlack});
  auto grown = std::make_unique_for_overwrite<char[]>(capacity);
  if (size_ > 0) std::memcpy(grown.get(), bytes_.get(), size_);
  bytes_ = std::move(grown);
  capacity_ = capacity;
}

}  // namespace zsetd
