#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/sorted_set/block/block.h"

namespace zsetd {

// Iterates over the elements of a block in either direction: O(1) a step, while Block::MemberAt()
// adds up lengths. The prefix is copied once. Invalid after any change of the block.
class BlockReader {
 public:
  BlockReader() = default;

  // At element `i`, which exists.
  BlockReader(const Block& block, size_t i) { Start(block, i); }
  void Start(const Block& block, size_t i);

  const Block* block() const { return block_; }  // null if it was never started
  size_t index() const { return index_; }
  uint64_t code() const { return block_->CodeAt(index_); }

  // Valid until the reader moves.
  std::string_view member() const {
    return in_place_ ? std::string_view(at_, length_) : Assembled();
  }

  // Whether the block stores the whole member as it is.
  bool is_in_place() const { return in_place_; }

  // Assembles the member at `to`. WriteMember may write kTooMany bytes more.
  static constexpr size_t kTooMany = 16;
  size_t member_size() const { return size_ > 0 ? size_ : SizeHere(); }
  void WriteMember(char* to) const;

  // Precondition: not at the block's last element, or at its first.
  void Forward() {
    assert(index_ + 1 < block_->count());
    ++index_;
    if (lengths_ != nullptr) TakeLength();
    at_ -= length_;
  }
  void Backward() {
    assert(index_ > 0);
    --index_;
    at_ += length_;
    if (lengths_ != nullptr) TakeLength();
  }

 private:
  void TakeLength();
  size_t SizeHere() const;
  const LargeMember* Large() const;  // or null
  bool HasNumeral() const;
  uint64_t Number() const;
  std::string_view Assembled() const;
  char* WriteTail(char* to) const;  // the bytes after the prefix; returns their end

  const Block* block_ = nullptr;
  const uint8_t* lengths_ = nullptr;  // null if all are the same
  const char* at_ = nullptr;          // the packed member
  size_t index_ = 0;
  size_t length_ = 0;      // its bytes
  size_t size_ = 0;        // of each member, if it is the same; or 0
  bool in_place_ = false;  // it is the whole member
  bool is_large_ = false;  // it points to a LargeMember
  mutable MemberBuffer buffer_;
};

}  // namespace zsetd
