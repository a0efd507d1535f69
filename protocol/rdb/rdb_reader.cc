#include "protocol/rdb/rdb_reader.h"

#include <liblzf/lzf.h>

#include <limits>
#include <optional>

#include "protocol/text/number_text.h"

namespace zsetd {
namespace {

// Three bytes of LZF expand to at most 264.
constexpr size_t kMostUnpackedPerByte = 88;

// The first byte of a score in digits is their number, except for these values.
constexpr uint8_t kNotANumber = 253;
constexpr uint8_t kInfinity = 254;
constexpr uint8_t kMinusInfinity = 255;

RdbLengthMark MarkOf(uint8_t first) { return static_cast<RdbLengthMark>(first >> 6); }

}  // namespace

uint64_t RdbReader::Length() {
  const uint8_t first = Byte();
  if (MarkOf(first) == RdbLengthMark::k6Bits) return first;
  if (MarkOf(first) == RdbLengthMark::k14Bits) return (first & 0x3fu) << 8 | Byte();
  if (first == kRdb32BitLength) return bytes_.BigEndian(4);
  if (first == kRdb64BitLength) return bytes_.BigEndian(8);
  Break();
  return 0;
}

std::string_view RdbReader::String() {
  if (MarkOf(bytes_.Peek()) == RdbLengthMark::kSpecial) {
    return Special(static_cast<RdbSpecial>(Byte() & 0x3f));
  }
  const uint64_t size = Length();
  if (size > max_string_bytes_) Break();
  return bytes_.Take(size);
}

std::string_view RdbReader::Special(RdbSpecial kind) {
  switch (kind) {
    case RdbSpecial::kInt8:
      return IntegerText(1);
    case RdbSpecial::kInt16:
      return IntegerText(2);
    case RdbSpecial::kInt32:
      return IntegerText(4);
    case RdbSpecial::kLzf:
      return Unpacked();
  }
  Break();
  return {};
}

std::string_view RdbReader::IntegerText(size_t bytes) {
  made_ = zsetd::IntegerText(bytes_.Signed(bytes));
  return ok() ? made_ : std::string_view();
}

std::string_view RdbReader::Unpacked() {
  const uint64_t packed_size = Length();
  const uint64_t size = Length();
  if (packed_size > max_string_bytes_) Break();
  const std::string_view packed = bytes_.Take(packed_size);
  if (size == 0 || size > max_string_bytes_ || size > UINT32_MAX) Break();
  if (size > kMostUnpackedPerByte * packed.size()) Break();
  if (!ok()) return {};
  made_.resize(size);
  const unsigned unpacked = lzf_decompress(packed.data(), static_cast<unsigned>(packed.size()),
                                           made_.data(), static_cast<unsigned>(size));
  if (unpacked != size) Break();
  return ok() ? made_ : std::string_view();
}

double RdbReader::DoubleFromText() {
  const uint8_t size = Byte();
  if (size == kNotANumber) return std::numeric_limits<double>::quiet_NaN();
  if (size == kInfinity) return std::numeric_limits<double>::infinity();
  if (size == kMinusInfinity) return -std::numeric_limits<double>::infinity();
  const std::optional<double> value = ParseDouble(bytes_.Take(size));
  if (!value) Break();
  return value.value_or(0);
}

}  // namespace zsetd
