#include "core/string/bits.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>

namespace zsetd {
namespace {

constexpr size_t kWordBytes = sizeof(uint64_t);

uint64_t WordAt(std::string_view bytes, size_t at) {
  uint64_t word;
  std::memcpy(&word, bytes.data() + at, kWordBytes);
  return word;
}

uint8_t ByteAt(std::string_view bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }

uint64_t CountInBytes(std::string_view bytes) {
  uint64_t count = 0;
  size_t at = 0;
  for (; at + kWordBytes <= bytes.size(); at += kWordBytes) {
    count += std::popcount(WordAt(bytes, at));
  }
  for (; at < bytes.size(); ++at) count += std::popcount(ByteAt(bytes, at));
  return count;
}

// The position of the first byte from `at` on that is not `filler`, or the end.
size_t SkipBytes(std::string_view bytes, size_t at, uint8_t filler) {
  const uint64_t word = filler == 0 ? 0 : ~uint64_t{0};
  while (at + kWordBytes <= bytes.size() && WordAt(bytes, at) == word) at += kWordBytes;
  while (at < bytes.size() && ByteAt(bytes, at) == filler) ++at;
  return at;
}

// The size of a piece. Strings are combined a piece at a time, so that the pieces stay in the cache
// and no second string of the full length is needed.
constexpr size_t kPieceBytes = 4096;

using Piece = std::array<uint8_t, kPieceBytes>;

// Loads the part of the string that begins at `start`, padded with zero bytes.
void Load(std::string_view string, size_t start, Piece& piece) {
  const std::string_view part = string.substr(std::min(start, string.size()), kPieceBytes);
  std::copy(part.begin(), part.end(), piece.begin());
  std::fill(piece.begin() + part.size(), piece.end(), 0);
}

// Calls change(target byte, byte) for all bytes of two pieces.
template <class Change>
void ForEachByte(Piece& target, const Piece& piece, Change change) {
  for (size_t i = 0; i < kPieceBytes; ++i) change(target[i], piece[i]);
}

// Summary of all strings' bits in a range of positions.
struct Tally {
  Piece first;      // X
  Piece some = {};  // set in some Y
  Piece more = {};  // set in several strings; only counted for kOne
};

void Include(BitOperation operation, const Piece& piece, Tally& tally) {
  switch (operation) {
    case BitOperation::kAnd:
      return ForEachByte(tally.first, piece, [](uint8_t& to, uint8_t from) { to &= from; });
    case BitOperation::kXor:
      return ForEachByte(tally.first, piece, [](uint8_t& to, uint8_t from) { to ^= from; });
    case BitOperation::kOr:
      return ForEachByte(tally.first, piece, [](uint8_t& to, uint8_t from) { to |= from; });
    case BitOperation::kOne:
      for (size_t i = 0; i < kPieceBytes; ++i) {
        tally.more[i] |= tally.first[i] & piece[i];
        tally.first[i] |= piece[i];
      }
      return;
    default:
      return ForEachByte(tally.some, piece, [](uint8_t& to, uint8_t from) { to |= from; });
  }
}

// Computes the result in tally.first.
void Conclude(BitOperation operation, Tally& tally) {
  switch (operation) {
    case BitOperation::kNot:
      return ForEachByte(tally.first, tally.some, [](uint8_t& to, uint8_t) { to = ~to; });
    case BitOperation::kDiff:
      return ForEachByte(tally.first, tally.some, [](uint8_t& to, uint8_t some) { to &= ~some; });
    case BitOperation::kDiff1:
      return ForEachByte(tally.first, tally.some,
                         [](uint8_t& to, uint8_t some) { to = some & ~to; });
    case BitOperation::kAndOr:
      return ForEachByte(tally.first, tally.some, [](uint8_t& to, uint8_t some) { to &= some; });
    case BitOperation::kOne:
      return ForEachByte(tally.first, tally.more, [](uint8_t& to, uint8_t more) { to &= ~more; });
    case BitOperation::kAnd:
    case BitOperation::kOr:
    case BitOperation::kXor:
      return;
  }
}

}  // namespace

uint64_t CountBits(std::string_view bytes, BitRange range) {
  assert(range.empty() || range.last <= 8 * bytes.size());
  if (range.empty()) return 0;
  const size_t first = range.first / 8;
  const size_t last = (range.last - 1) / 8;
  const auto before = static_cast<uint8_t>(ByteAt(bytes, first) & ~(0xff >> range.first % 8));
  const auto behind = static_cast<uint8_t>(ByteAt(bytes, last) & (0x7f >> (range.last - 1) % 8));
  return CountInBytes(bytes.substr(first, last - first + 1)) - std::popcount(before) -
         std::popcount(behind);
}

std::optional<uint64_t> FindBit(std::string_view bytes, bool bit, BitRange range) {
  assert(range.empty() || range.last <= 8 * bytes.size());
  const std::string_view searched = bytes.substr(0, (range.last + 7) / 8);
  size_t at = range.first;
  while (at < range.last) {
    if (BitAt(bytes, at) == bit) return at;
    ++at;
    if (at % 8 == 0) at = 8 * SkipBytes(searched, at / 8, bit ? 0 : 0xff);
  }
  return std::nullopt;
}

bool BitAt(std::string_view bytes, uint64_t position) {
  return position / 8 < bytes.size() && (ByteAt(bytes, position / 8) >> (7 - position % 8)) & 1;
}

void SetBit(std::span<char> bytes, uint64_t position, bool bit) {
  assert(position / 8 < bytes.size());
  const char mask = static_cast<char>(0x80 >> position % 8);
  char& byte = bytes[position / 8];
  byte = static_cast<char>(bit ? byte | mask : byte & ~mask);
}

std::string Combine(BitOperation operation, std::span<const std::string_view> strings) {
  assert(!strings.empty());
  size_t size = 0;
  for (const std::string_view string : strings) size = std::max(size, string.size());
  std::string result;
  result.reserve(size);
  Piece piece;
  for (size_t start = 0; start < size; start += kPieceBytes) {
    Tally tally;
    Load(strings[0], start, tally.first);
    for (const std::string_view string : strings.subspan(1)) {
      Load(string, start, piece);
      Include(operation, piece, tally);
    }
    Conclude(operation, tally);
    const auto* bytes = reinterpret_cast<const char*>(tally.first.data());
    result.append(bytes, std::min(kPieceBytes, size - start));
  }
  return result;
}

}  // namespace zsetd
