#pragma once

#include <cstddef>
#include <string_view>

namespace zsetd {

// Bytes of a string: those with begin <= index < end.
struct ByteRange {
  size_t begin = 0;
  size_t end = 0;
};

// The value of a string key, to be looked at: any bytes. Valid until the key changes.
class ByteString {
 public:
  explicit ByteString(std::string_view bytes = {}, bool edited_in_place = false)
      : bytes_(bytes), edited_in_place_(edited_in_place) {}

  std::string_view view() const { return bytes_; }

  // Whether it was grown or overwritten in place since it was last assigned as a whole. Redis shows
  // this as the encoding `raw`, whatever the length.
  bool edited_in_place() const { return edited_in_place_; }

 private:
  std::string_view bytes_;
  bool edited_in_place_;
};

}  // namespace zsetd
