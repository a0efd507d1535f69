#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace zsetd {

// The source of a ByteCursor's bytes if they do not all fit into memory, such as a file.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Returns at least `count` bytes, or fewer at the end. They begin with the last `unread` bytes of
  // the previous result. Invalidates earlier results. `count` is not trusted: memory use must be
  // bounded by the bytes that exist.
  virtual std::string_view Refill(size_t unread, size_t count) = 0;
};

// Takes bytes from the front of a string or of a source. After a request for too many bytes, every
// result is empty or zero. Bytes taken from a string are valid as long as the string. Bytes from a
// source are valid until the next call.
class ByteCursor {
 public:
  explicit ByteCursor(std::string_view bytes) : rest_(bytes) {}
  explicit ByteCursor(ByteSource& source) : source_(&source) {}

  std::string_view Take(size_t count) {
    if (count > rest_.size()) [[unlikely]]
      Refill(count);
    if (!ok_) return {};
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  uint8_t Byte() {
    const std::string_view byte = Take(1);
    return byte.empty() ? 0 : static_cast<uint8_t>(byte.front());
  }

  // A little-endian number of 1 to 8 bytes, unsigned and signed.
  uint64_t Unsigned(size_t bytes) {
    uint64_t number = 0;
    const std::string_view low_first = Take(bytes);
    for (size_t i = 0; i < low_first.size(); ++i) {
      number |= static_cast<uint64_t>(static_cast<uint8_t>(low_first[i])) << 8 * i;
    }
    return number;
  }
  int64_t Signed(size_t bytes) {
    const size_t unused = 64 - 8 * bytes;
    return static_cast<int64_t>(Unsigned(bytes) << unused) >> unused;
  }

  // Like Unsigned(), but the high byte first.
  uint64_t BigEndian(size_t bytes) {
    uint64_t number = 0;
    for (const char byte : Take(bytes)) number = number << 8 | static_cast<uint8_t>(byte);
    return number;
  }

  double Double() {
    const uint64_t bits = Unsigned(sizeof(double));
    return std::bit_cast<double>(bits);
  }

  // The next byte without taking it; 0 at the end.
  uint8_t Peek() {
    if (rest_.empty() && source_ != nullptr && ok_) rest_ = source_->Refill(0, 1);
    return rest_.empty() ? 0 : static_cast<uint8_t>(rest_.front());
  }

  void Break() { ok_ = false; }
  size_t left() const { return rest_.size(); }  // for a source: in its last result
  bool ok() const { return ok_; }

 private:
  void Refill(size_t count) {
    if (source_ != nullptr && ok_) rest_ = source_->Refill(rest_.size(), count);
    if (count > rest_.size()) ok_ = false;
  }

  ByteSource* source_ = nullptr;
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace zsetd
