#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace zsetd {

// Decisions that the bytes of a fuzzer's input make. After their end every decision is 0.
class Choices {
 public:
  explicit Choices(std::string_view bytes) : left_(bytes) {}

  bool AtEnd() const { return left_.empty(); }

  uint8_t Byte() {
    if (left_.empty()) return 0;
    const auto byte = static_cast<uint8_t>(left_.front());
    left_.remove_prefix(1);
    return byte;
  }

  // A number below `limit`, which is at most 256.
  uint64_t Below(uint64_t limit) { return Byte() % limit; }

  // A number of up to 8 bytes; most are small.
  uint64_t Number() {
    uint64_t number = Byte();
    if (number < 224) return number;
    for (uint64_t left = number - 224; left > 0; left -= std::min<uint64_t>(left, 4)) {
      number = number << 8 | Byte();
    }
    return number;
  }

  // The next bytes, at most `most`.
  std::string_view Bytes(size_t most) {
    const std::string_view bytes = left_.substr(0, most);
    left_.remove_prefix(bytes.size());
    return bytes;
  }

  std::string_view Rest() { return Bytes(left_.size()); }

 private:
  std::string_view left_;
};

}  // namespace zsetd
