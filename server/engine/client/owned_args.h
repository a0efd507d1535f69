#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "protocol/resp/args.h"

namespace zsetd {

// The arguments of a request, kept beyond the request: a copy in one allocation, the views first,
// then the bytes that they refer to. It costs 16 bytes for each word in addition to its bytes, and
// one allocation whatever the number of arguments; and argv() is the request as a command takes it.
class OwnedArgs {
 public:
  OwnedArgs() = default;
  explicit OwnedArgs(Args argv);
  OwnedArgs(OwnedArgs&& other) noexcept { Swap(other); }
  OwnedArgs& operator=(OwnedArgs&& other) noexcept {
    OwnedArgs(std::move(other)).Swap(*this);
    return *this;
  }

  // Valid as long as this object, or the one that it has been moved to.
  Args argv() const { return {reinterpret_cast<const std::string_view*>(block_.get()), count_}; }

  bool empty() const { return count_ == 0; }

  // The allocated bytes, allocator rounding included. O(1).
  size_t allocated_bytes() const;

 private:
  void Swap(OwnedArgs& other) noexcept {
    std::swap(block_, other.block_);
    std::swap(count_, other.count_);
    std::swap(block_bytes_, other.block_bytes_);
  }

  std::unique_ptr<std::byte[]> block_;  // aligned for any type, as all that `new` returns
  size_t count_ = 0;
  size_t block_bytes_ = 0;
};

}  // namespace zsetd
