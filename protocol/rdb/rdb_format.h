// The constants of Redis's serialization format (snapshots, DUMP and RESTORE): the types of values,
// and the marks of lengths and strings.
#pragma once

#include <cstdint>

namespace zsetd {

// The written version is the oldest that has all used types; Redis 7.0 reads it. Values with
// deadlines of fields need kRdbVersionOfDeadlines, which Redis 7.4 reads, and streams with IDs of
// producers kRdbVersionOfProducers, which Redis 8.6 reads. Valkey 9 and later count from 80 on.
inline constexpr uint16_t kRdbVersionWritten = 10;
inline constexpr uint16_t kRdbVersionOfDeadlines = 12;
inline constexpr uint16_t kRdbVersionOfProducers = 13;
inline constexpr uint16_t kNewestRdbVersionRead = 14;
inline constexpr uint16_t kValkeyRdbVersion = 80;

// The layout of a value after its type byte. Packed forms are one string.
enum class RdbType : uint8_t {
  kString = 0,
  kList = 1,         // count, elements
  kSet = 2,          // count, members
  kZSetOfTexts = 3,  // count, pairs of member and score in digits
  kHash = 4,         // count, pairs
  kZSet = 5,         // count, pairs of member and score in 8 bytes
  kModuleOfOld = 6,  // of release candidates: only the module knows the layout
  kModule = 7,       // module's number, fields with their types
  kHashZipmap = 9,
  kListZiplist = 10,
  kSetIntset = 11,
  kZSetZiplist = 12,
  kHashZiplist = 13,
  kListOfZiplists = 14,  // count, ziplists
  kStream = 15,
  kHashListpack = 16,
  kZSetListpack = 17,
  kListOfListpacks = 18,  // count, pairs of RdbContainer and piece
  kStream2 = 19,          // Redis 7.0
  kSetListpack = 20,
  kStream3 = 21,        // Redis 7.2
  kValkeyHash = 22,     // count, triples of field, value and deadline in 8 bytes; -1: none
  kHashDeadlines = 24,  // first deadline in 8 bytes, count, triples of deadline, field and value
  kHashListpackTriples = 25,  // first deadline in 8 bytes, listpack of field, value and deadline
  kStream4 = 26,              // Redis 8.6
  kStream5 = 27,              // Redis 8.8

  // Types of zsetd, in DUMP payloads only: count, a deadline, triples of member, score in 8 bytes
  // and deadline. The deadline is 0 for none, else its distance from the first deadline plus 1.
  kZSetDeadlines = 122,

  // Like kZSetDeadlines, but the first deadline is 0 without deadlines, and each deadline is
  // followed by 0, or by 1 and the payload.
  kZSetPayloads = 123,

  // The text of a form of scores, then like kZSetPayloads, but with the code of each score, 8 bytes
  // low byte first, in place of the score.
  kZSetForm = 124,
};

// A piece of a list: one element by itself, or a listpack of several.
enum class RdbContainer : uint8_t { kPlain = 1, kPacked = 2 };

// The two highest bits of a length's first byte.
enum class RdbLengthMark : uint8_t {
  k6Bits = 0,
  k14Bits = 1,   // high bits first, one more byte
  kLong = 2,     // the lower bits select 4 or 8 bytes, high byte first
  kSpecial = 3,  // no length: an encoded string; the lower bits are an RdbSpecial
};

inline constexpr uint8_t kRdb32BitLength = 0x80;
inline constexpr uint8_t kRdb64BitLength = 0x81;

// The encoding of a string: an integer, low byte first, or compressed.
enum class RdbSpecial : uint8_t { kInt8 = 0, kInt16 = 1, kInt32 = 2, kLzf = 3 };

}  // namespace zsetd
