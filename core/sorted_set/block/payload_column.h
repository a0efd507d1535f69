#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "core/sorted_set/block/large_member.h"
#include "core/util/byte_scan.h"
#include "core/util/copy_bytes.h"

namespace zsetd {

// The payload of an element in the form that blocks store: a length byte, and the bytes or a
// pointer. An empty payload has an allocation of its own, like a long one, because the length 0
// means that the element has none.
class PackedPayload {
 public:
  static constexpr size_t kMostInline = 254;
  static constexpr uint8_t kLarge = 255;

  // No payload.
  PackedPayload() = default;

  // As a block stores it: the length byte and the place of the bytes.
  PackedPayload(uint8_t length, const char* bytes) : bytes_(bytes), length_(length) {}

  // Views a short payload; makes a LargeMember for another one, which the caller owns.
  static PackedPayload Make(std::optional<std::string_view> payload) {
    if (!payload) return {};
    if (!payload->empty() && payload->size() <= kMostInline) {
      return {static_cast<uint8_t>(payload->size()), payload->data()};
    }
    return PackedPayload(LargeMember::Make(*payload));
  }
  explicit PackedPayload(const LargeMember* large)
      : bytes_(reinterpret_cast<const char*>(large)), length_(kLarge) {}

  explicit operator bool() const { return length_ > 0; }
  uint8_t length() const { return length_; }
  const char* bytes() const { return bytes_; }  // of a short one, or the address of the large one
  LargeMember* large() const {                  // or null
    const bool is_large = length_ == kLarge;
    return is_large ? reinterpret_cast<LargeMember*>(const_cast<char*>(bytes_)) : nullptr;
  }

  // The bytes that it takes in a block, besides the length byte.
  size_t size() const { return length_ == kLarge ? sizeof(LargeMember*) : length_; }

  std::optional<std::string_view> view() const {
    if (length_ == 0) return std::nullopt;
    return length_ == kLarge ? large()->view() : std::string_view(bytes_, length_);
  }

 private:
  const char* bytes_ = nullptr;  // or the LargeMember
  uint8_t length_ = 0;
};

// A copy of a packed payload that outlives a change of its block. It shares a LargeMember.
class KeptPayload {
 public:
  explicit KeptPayload(const PackedPayload& payload) : payload_(payload) {
    if (!payload || payload.large() != nullptr) return;
    CopyBytes(bytes_, payload.bytes(), payload.size());
    payload_ = PackedPayload(payload.length(), bytes_);
  }
  KeptPayload(const KeptPayload&) = delete;

  const PackedPayload& get() const { return payload_; }

 private:
  PackedPayload payload_;
  char bytes_[PackedPayload::kMostInline];  // not initialized
};

// The payloads of a block's elements, in their order, if the block has any:
//
//   total | l0 l1 l2 ... | bytes of 0 | bytes of 1 | ...
//     2     1 byte each                                    bytes
//
// A view without ownership. The number of elements is an argument, because the block stores it. An
// element without a payload takes its length byte only.
//
// Invariant: `total` is the sum of the bytes.
class PayloadColumn {
 public:
  explicit PayloadColumn(char* at) : at_(at) {}

  // The bytes of a column.
  static size_t Bytes(size_t count, size_t total) { return kTotalBytes + count + total; }
  size_t Bytes(size_t count) const { return Bytes(count, total()); }

  // Writes a column of elements without payloads. Precondition: there is room for its bytes.
  void Clear(size_t count) {
    set_total(0);
    std::memset(at_ + kTotalBytes, 0, count);
  }

  const char* begin() const { return at_; }

  bool HasAny() const { return total() > 0; }

  // The payload of element `i`. O(i).
  PackedPayload At(size_t i, size_t count) const {
    assert(i < count);
    const uint8_t length = lengths()[i];
    if (length == 0) return {};
    char* at = Place(i, count);
    if (length != PackedPayload::kLarge) return {length, at};
    LargeMember* large;
    CopyBytes(&large, at, sizeof(large));
    return PackedPayload(large);
  }

  // Sets, replaces or removes the payload of an element. Precondition: there is room.
  void Set(size_t i, size_t count, const PackedPayload& payload) {
    char* at = Place(i, count);
    const size_t before = SizeOf(i), after = payload.size();
    char* const end = at_ + Bytes(count);
    CopyBytes(at + after, at + before, end - (at + before));
    if (payload.large() != nullptr) {
      LargeMember* const large = payload.large();
      CopyBytes(at, &large, sizeof(large));
    } else {
      CopyBytes(at, payload.bytes(), after);
    }
    lengths()[i] = payload.length();
    set_total(total() + after - before);
  }

  // Whether the payload of element `i` has an allocation of its own. O(1).
  bool IsLarge(size_t i) const { return lengths()[i] == PackedPayload::kLarge; }

  // The bytes that the payload of element `i` takes, besides its length byte.
  size_t SizeOf(size_t i) const {
    return lengths()[i] == PackedPayload::kLarge ? sizeof(LargeMember*) : lengths()[i];
  }

  // Inserts an element without a payload at `i` into a column of `count` elements. Precondition:
  // there is room.
  void Insert(size_t i, size_t count) {
    assert(i <= count);
    char* const place = at_ + kTotalBytes + i;
    CopyBytes(place + 1, place, at_ + Bytes(count) - place);
    *place = 0;
  }

  // Erases the elements from `first` to before `last` from a column of `count` elements. Their
  // LargeMembers are the caller's.
  void Erase(size_t first, size_t last, size_t count) {
    assert(first < last && last <= count);
    char* const begin = Place(first, count);
    const size_t erased = SumOf(first, last), gone = last - first;
    char* const end = at_ + Bytes(count);
    CopyBytes(begin, begin + erased, end - (begin + erased));
    char* const length = at_ + kTotalBytes + first;
    CopyBytes(length, length + gone, end - erased - (length + gone));
    set_total(total() - erased);
  }

  // Writes a copy of the elements from `first` to before `last` of another column, of `count`
  // elements. Precondition: there is room.
  void CopyOf(const PayloadColumn& other, size_t first, size_t last, size_t count) {
    const size_t copied = last - first, bytes = other.SumOf(first, last);
    set_total(bytes);
    CopyBytes(at_ + kTotalBytes, other.lengths() + first, copied);
    CopyBytes(at_ + kTotalBytes + copied, other.Place(first, count), bytes);
  }

  // The bytes of the payloads from `first` to before `last`, without length bytes.
  size_t SumOf(size_t first, size_t last) const {
    return SumBytes(lengths() + first, last - first, PackedPayload::kLarge, sizeof(LargeMember*));
  }

 private:
  static constexpr size_t kTotalBytes = 2;

  size_t total() const {
    uint16_t total;
    std::memcpy(&total, at_, sizeof(total));
    return total;
  }
  void set_total(size_t bytes) {
    const auto total = static_cast<uint16_t>(bytes);
    assert(total == bytes);
    std::memcpy(at_, &total, sizeof(total));
  }
  uint8_t* lengths() const { return reinterpret_cast<uint8_t*>(at_ + kTotalBytes); }
  char* Place(size_t i, size_t count) const { return at_ + kTotalBytes + count + SumOf(0, i); }

  char* at_;
};

}  // namespace zsetd
