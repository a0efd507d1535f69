#include "core/block_reader.h"

#include <cstring>

#include "core/numeral.h"

namespace zsetd {

void BlockReader::Start(const Block& block, size_t i) {
  block_ = &block;
  index_ = i;
  lengths_ = block.HasLengths() ? block.Lengths() : nullptr;
  length_ = block.format_.member_width;
  at_ = block.MemberPlace(i);
  const std::string_view prefix = block.Prefix();
  std::memmove(buffer_.data(), prefix.data(), prefix.size());
  in_place_ = prefix.empty() && block.format_.members != BlockFormat::Members::kNumerals;
  if (lengths_ != nullptr) TakeLength();
}

void BlockReader::TakeLength() {
  const bool is_large = lengths_[index_] == kLargeLength;
  length_ = is_large ? sizeof(LargeMember*) : lengths_[index_];
  in_place_ = !is_large && block_->format_.prefix_length == 0;
}

std::string_view BlockReader::Assembled() const {
  const BlockFormat& format = block_->format_;
  char* tail = buffer_.data() + format.prefix_length;
  if (format.members == BlockFormat::Members::kNumerals) {
    const uint64_t number = format.number_base + LoadPacked(at_, format.member_width);
    return {buffer_.data(), WriteNumeral(tail, number, format.digits)};
  }
  if (const LargeMember* large = block_->LargeAt(index_)) return large->view();
  std::memmove(tail, at_, length_);
  return {buffer_.data(), format.prefix_length + length_};
}

}  // namespace zsetd
