#include "core/block_reader.h"

#include <cstring>

#include "core/numeral.h"

namespace zsetd {

static_assert(kNumeralRoom <= BlockReader::kTooMany);

void BlockReader::Start(const Block& block, size_t i) {
  block_ = &block;
  index_ = i;
  lengths_ = block.HasLengths() ? block.Lengths() : nullptr;
  length_ = block.format_.member_width;
  at_ = block.MemberPlace(i);
  const std::string_view prefix = block.Prefix();
  std::memmove(buffer_.data(), prefix.data(), prefix.size());
  in_place_ = prefix.empty() && block.format_.members != BlockFormat::Members::kNumerals;
  is_large_ = false;
  size_ = CommonSize();
  if (lengths_ != nullptr) TakeLength();
}

size_t BlockReader::CommonSize() const {
  const BlockFormat& format = block_->format_;
  if (HasNumeral()) return format.digits == kShortest ? 0 : format.prefix_length + format.digits;
  return lengths_ ? 0 : format.prefix_length + length_;
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

uint64_t BlockReader::Number() const {
  return block_->format_.number_base + LoadPacked(at_, block_->format_.member_width);
}

std::string_view BlockReader::Assembled() const {
  const BlockFormat& format = block_->format_;
  char* tail = buffer_.data() + format.prefix_length;
  if (HasNumeral()) return {buffer_.data(), WriteNumeral(tail, Number(), format.digits)};
  if (const LargeMember* large = Large()) return large->view();
  std::memmove(tail, at_, length_);
  return {buffer_.data(), format.prefix_length + length_};
}

size_t BlockReader::SizeHere() const {
  const BlockFormat& format = block_->format_;
  if (HasNumeral()) return format.prefix_length + NumeralSize(Number(), format.digits);
  const LargeMember* large = Large();
  return large ? large->view().size() : format.prefix_length + length_;
}

// The prefix goes in steps of a fixed length: a call of memmove would take longer than all the
// rest.
void BlockReader::WriteMember(char* to) const {
  const BlockFormat& format = block_->format_;
  if (const LargeMember* large = Large()) {
    std::memcpy(to, large->view().data(), large->view().size());
    return;
  }
  for (size_t i = 0; i < format.prefix_length; i += kTooMany) {
    std::memcpy(to + i, buffer_.data() + i, kTooMany);
  }
  char* tail = to + format.prefix_length;
  if (HasNumeral()) {
    WriteNumeral(tail, Number(), format.digits);
  } else {
    std::memmove(tail, at_, length_);
  }
}

}  // namespace zsetd
