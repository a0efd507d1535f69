#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/allocation.h"

namespace zsetd {

// The value of a string key: any bytes.
//
// Invariant: the revision changes with every call that may change the contents.
class ByteString {
 public:
  ByteString() = default;
  explicit ByteString(std::string_view bytes) : bytes_(bytes) {}
  explicit ByteString(std::string&& bytes) : bytes_(std::move(bytes)) {}

  std::string_view view() const { return bytes_; }
  uint32_t revision() const { return revision_; }

  // Whether it was grown or overwritten in place since it was last assigned as a whole. Redis shows
  // this as the encoding `raw`, whatever the length.
  bool edited_in_place() const { return edited_in_place_; }

  size_t BytesUsed() const { return AllocatedBytes(bytes_); }

  void Assign(std::string_view bytes);
  void Append(std::string_view bytes);

  // Writes `bytes` over what stands at `offset`, growing with zero bytes as needed.
  void Overwrite(size_t offset, std::string_view bytes);

 private:
  std::string bytes_;
  uint32_t revision_ = 0;
  bool edited_in_place_ = false;
};

}  // namespace zsetd
