// Redis's serialization format, as in its snapshots, DUMP and RESTORE: what a value's type byte may
// say, and how lengths and strings begin. All else follows from these.
#pragma once

#include <cstdint>

namespace zsetd {

// The version written is the oldest that can say all that is written; Redis 7.0 reads it. Valkey
// counts from 80 on since its version 9. Deadlines of fields need the other: Redis 7.4 reads it.
inline constexpr uint16_t kRdbVersionWritten = 10;
inline constexpr uint16_t kRdbVersionOfDeadlines = 12;
inline constexpr uint16_t kNewestRdbVersionRead = 13;
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
  kListOfListpacks = 18,  // count, pairs of RdbContainer and that
  kStream2 = 19,          // Redis 7.0
  kSetListpack = 20,
  kStream3 = 21,        // Redis 7.2
  kValkeyHash = 22,     // count, triples of field, value and deadline in 8 bytes; -1: none
  kHashDeadlines = 24,  // first deadline in 8 bytes, count, triples of deadline, field and value
  kHashListpackTriples = 25,  // first deadline in 8 bytes, listpack of field, value and deadline

  // zsetd's own, in DUMP payloads only: count, a deadline, triples of member, score in 8 bytes and
  // deadline; that as 0 for none, else its distance from the first and 1 more.
  kZSetDeadlines = 122,
};

// A piece of a list: one element by itself, or a listpack of several.
enum class RdbContainer : uint8_t { kPlain = 1, kPacked = 2 };

// The two highest bits of a length's first byte.
enum class RdbLengthMark : uint8_t {
  k6Bits = 0,
  k14Bits = 1,   // high bits first, one more byte
  kLong = 2,     // 4 or 8 bytes follow, high byte first, as the lower bits say
  kSpecial = 3,  // no length: a string that is kept otherwise, as the lower bits say
};

inline constexpr uint8_t kRdb32BitLength = 0x80;
inline constexpr uint8_t kRdb64BitLength = 0x81;

// A string that is kept as an integer, low byte first, or compressed.
enum class RdbSpecial : uint8_t { kInt8 = 0, kInt16 = 1, kInt32 = 2, kLzf = 3 };

}  // namespace zsetd
