#pragma once

#include <cstddef>
#include <string_view>

namespace zsetd {

// The bytes of a string with begin <= index < end.
struct ByteRange {
  size_t begin = 0;
  size_t end = 0;
};

// A view of the value of a string key, which may be any bytes. Valid until the key changes.
class ByteString {
 public:
  explicit ByteString(std::string_view bytes = {}, bool edited_in_place = false)
      : bytes_(bytes), edited_in_place_(edited_in_place) {}

  std::string_view view() const { return bytes_; }

  // Whether the string was extended or overwritten in place since it was last assigned as a whole.
  // Redis shows the encoding `raw` then, for any length.
  bool edited_in_place() const { return edited_in_place_; }

 private:
  std::string_view bytes_;
  bool edited_in_place_;
};

}  // namespace zsetd
