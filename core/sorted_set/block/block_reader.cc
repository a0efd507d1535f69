#include "core/sorted_set/block/block_reader.h"

#include <cassert>
#include <cstring>

#include "core/util/numeral.h"

namespace zsetd {

static_assert(kNumeralRoom <= BlockReader::kTooMany);

void BlockReader::Start(const Block& block, size_t i) {
  assert(i < block.count());
  block_ = &block;
  index_ = i;
  lengths_ = block.HasLengths() ? block.Lengths() : nullptr;
  length_ = block.format_.member_width;
  at_ = block.MemberPlace(i);
  const std::string_view prefix = block.Prefix();
  std::memmove(buffer_.data(), prefix.data(), prefix.size());
  in_place_ = prefix.empty() && block.format_.members != BlockFormat::Members::kNumerals;
  is_large_ = false;
  const bool sizes_differ =
      lengths_ != nullptr || (HasNumeral() && block.format_.digits == kShortest);
  size_ = sizes_differ ? 0 : SizeHere();
  if (lengths_ != nullptr) TakeLength();
}

void BlockReader::TakeLength() {
  is_large_ = lengths_[index_] == kLargeLength;
  length_ = is_large_ ? sizeof(LargeMember*) : lengths_[index_];
  in_place_ = !is_large_ && block_->format_.prefix_length == 0;
}

const LargeMember* BlockReader::Large() const {
  if (!is_large_) return nullptr;
  const LargeMember* large;
  std::memcpy(&large, at_, sizeof(large));
  return large;
}

bool BlockReader::HasNumeral() const {
  return block_->format_.members == BlockFormat::Members::kNumerals;
}

uint64_t BlockReader::Number() const { return block_->NumberAt(index_); }

std::string_view BlockReader::Assembled() const {
  if (const LargeMember* large = Large()) return large->view();
  return {buffer_.data(), WriteTail(buffer_.data() + block_->format_.prefix_length)};
}

char* BlockReader::WriteTail(char* to) const {
  if (HasNumeral()) return WriteNumeral(to, Number(), block_->format_.digits);
  std::memmove(to, at_, length_);
  return to + length_;
}

size_t BlockReader::SizeHere() const {
  const BlockFormat& format = block_->format_;
  if (HasNumeral()) return format.prefix_length + NumeralSize(Number(), format.digits);
  const LargeMember* large = Large();
  return large ? large->view().size() : format.prefix_length + length_;
}

// Copies the prefix in steps of a fixed length, because a call of memmove would take longer than
// the rest.
void BlockReader::WriteMember(char* to) const {
  if (const LargeMember* large = Large()) {
    std::memcpy(to, large->view().data(), large->view().size());
    return;
  }
  const size_t prefix_length = block_->format_.prefix_length;
  for (size_t i = 0; i < prefix_length; i += kTooMany) {
    std::memcpy(to + i, buffer_.data() + i, kTooMany);
  }
  WriteTail(to + prefix_length);
}

}  // namespace zsetd
