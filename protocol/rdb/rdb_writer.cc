#include "protocol/rdb/rdb_writer.h"

#include <liblzf/lzf.h>

#include <bit>
#include <limits>
#include <optional>
#include <utility>

#include "protocol/rdb/append_number.h"
#include "protocol/rdb/rdb_file.h"
#include "protocol/text/number_text.h"

namespace zsetd {
namespace {

constexpr size_t kLongestInteger = 11;   // bytes of the text of a 32-bit integer
constexpr size_t kLeastCompressed = 21;  // as in Redis, shorter strings are not compressed
constexpr size_t kLeastSaved = 4;        // bytes; compression must save at least this many

template <class Number>
bool Fits(int64_t value) {
  using Limits = std::numeric_limits<Number>;
  return value >= Limits::min() && value <= Limits::max();
}

class LongString : public UnwrittenPart {
 public:
  explicit LongString(std::string bytes) : bytes_(std::move(bytes)) {}

  size_t bytes() const override { return bytes_.size(); }
  void Write(RdbFileWriter& writer) override { writer.values().String(bytes_); }

 private:
  const std::string bytes_;
};

}  // namespace

void RdbWriter::Length(uint64_t length) {
  if (length < 1u << 6) {
    out_ += static_cast<char>(length);
  } else if (length < 1u << 14) {
    AppendBigEndian(static_cast<uint64_t>(RdbLengthMark::k14Bits) << 14 | length, 2, out_);
  } else if (length <= UINT32_MAX) {
    out_ += static_cast<char>(kRdb32BitLength);
    AppendBigEndian(length, 4, out_);
  } else {
    out_ += static_cast<char>(kRdb64BitLength);
    AppendBigEndian(length, 8, out_);
  }
}

void RdbWriter::OwnString(std::string bytes) {
  if (parts_ == nullptr || bytes.size() < least_long_) return String(bytes);
  parts_->Take(std::make_unique<LongString>(std::move(bytes)));
}

void RdbWriter::String(std::string_view bytes) {
  if (parts_ != nullptr && bytes.size() >= least_long_) [[unlikely]]
    return parts_->Take(std::make_unique<LongString>(std::string(bytes)));
  if (WriteInteger(bytes) || WriteCompressed(bytes)) return;
  Length(bytes.size());
  out_ += bytes;
}

void RdbWriter::LittleEndian(uint64_t value, size_t bytes) {
  AppendLittleEndian(value, bytes, out_);
}

void RdbWriter::Double(double value) {
  AppendLittleEndian(std::bit_cast<uint64_t>(value), sizeof value, out_);
}

bool RdbWriter::WriteInteger(std::string_view bytes) {
  const auto value = bytes.size() <= kLongestInteger ? ParseInteger(bytes) : std::nullopt;
  if (!value || !Fits<int32_t>(*value)) return false;
  if (Fits<int8_t>(*value)) {
    Special(RdbSpecial::kInt8);
    AppendLittleEndian(*value, 1, out_);
  } else if (Fits<int16_t>(*value)) {
    Special(RdbSpecial::kInt16);
    AppendLittleEndian(*value, 2, out_);
  } else {
    Special(RdbSpecial::kInt32);
    AppendLittleEndian(*value, 4, out_);
  }
  return true;
}

bool RdbWriter::WriteCompressed(std::string_view bytes) {
  if (!compresses_ || bytes.size() < kLeastCompressed || bytes.size() > UINT32_MAX) return false;
  std::string packed(bytes.size() - kLeastSaved, '\0');
  const auto size = lzf_compress(bytes.data(), static_cast<unsigned>(bytes.size()), packed.data(),
                                 static_cast<unsigned>(packed.size()));
  if (size == 0) return false;
  Special(RdbSpecial::kLzf);
  Length(size);
  Length(bytes.size());
  out_.append(packed, 0, size);
  return true;
}

void RdbWriter::Special(RdbSpecial kind) {
  out_ += static_cast<char>(static_cast<uint8_t>(RdbLengthMark::kSpecial) << 6 |
                            static_cast<uint8_t>(kind));
}

}  // namespace zsetd
