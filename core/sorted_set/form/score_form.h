#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/sorted_set/form/half_life.h"
#include "core/util/time.h"

namespace zsetd {

struct ExactDecimal;

// Codes of scores, from the first to the last, both included
// (core/sorted_set/block/score_encoding.h).
struct CodeRange {
  static constexpr uint64_t kMost = ~uint64_t{0};

  uint64_t first = 0;
  uint64_t last = kMost;
  bool is_empty = false;

  static CodeRange None() { return {.is_empty = true}; }
};

// The form of a sorted set's scores: how the text of a score becomes the 64-bit code that blocks
// store, and back. Codes have the order of the scores, so blocks, ranks and ranges work alike for
// all forms.
//
//   DOUBLE                   a double, as in Redis; the only form that SortedSet knows by itself
//   INT64                    -9223372036854775808 to 9223372036854775807, each exactly
//   TUPLE 32 31:DESC         unsigned fields of 1 to 64 bits, 64 in total; 3100/1795478000
//
//   HALFLIFE 3600            numbers from 0 up, which halve every 3600 seconds (half_life.h)
//
//   code of INT64            score + 2^63
//   code of TUPLE            0 ... | first field | ... | last field; the bits of a DESC field are
//                            inverted, so that a greater field is a lower score
//   code of HALFLIFE         ScoreCode() of the stored number, which is the same at all times
//
// A value; copying it costs a vector of fields.
class ScoreForm {
 public:
  enum class Kind : uint8_t { kDouble, kInt64, kTuple, kHalfLife };

  // A field of a tuple. `shift` is its position in the code.
  struct Field {
    uint8_t bits = 0;
    bool descending = false;
    uint8_t shift = 0;

    uint64_t max() const { return ~uint64_t{0} >> (64 - bits); }
    bool operator==(const Field&) const = default;
  };

  ScoreForm() = default;  // DOUBLE
  static ScoreForm Int64();

  // Reads a form as `Text()` writes it; words in upper or lower case. Returns nullopt if it is not
  // one: no fields, more than 64 bits in total, or another word.
  static std::optional<ScoreForm> Read(std::string_view text);
  std::string Text() const;

  Kind kind() const { return kind_; }
  bool is_double() const { return kind_ == Kind::kDouble; }
  bool decays() const { return kind_ == Kind::kHalfLife; }
  bool operator==(const ScoreForm&) const = default;

  // Precondition: scores decay.
  HalfLife half_life() const { return HalfLife(half_life_seconds_); }

  // The functions below are for other forms than DOUBLE.

  // The code of a score; nullopt if the text is not a score of this form. A score that decays has
  // no text: its code depends on the time.
  std::optional<uint64_t> Code(std::string_view score) const;

  // The code of a score that decays; nullopt if it is negative, infinite or NaN.
  std::optional<uint64_t> Code(double score, Millis now) const;

  // Whether a score has this code.
  bool IsCode(uint64_t code) const;

  // Precondition: scores do not decay.
  std::string ScoreText(uint64_t code) const;

  // The codes of all scores that begin with these fields: "3100" has all tuples whose first field
  // is 3100. For other texts it is one code.
  std::optional<CodeRange> CodesOf(std::string_view score) const;

  // The codes of scores from `min` up, or up to `max`, which are numbers that need not be scores.
  // Nullopt if the form has no such numbers. No argument is NaN. Only scores that decay use `now`.
  std::optional<CodeRange> CodesFrom(double min, bool exclusive, Millis now) const;
  std::optional<CodeRange> CodesUpTo(double max, bool exclusive, Millis now) const;

  // Like the functions above, for numbers that are not rounded. Precondition: INT64.
  CodeRange CodesFrom(const ExactDecimal& min, bool exclusive) const;
  CodeRange CodesUpTo(const ExactDecimal& max, bool exclusive) const;

  // The score that an increment of a new member is added to.
  uint64_t ZeroCode() const;

  // The sum of a score and an integer, which is added to the first field of a tuple. Returns
  // nullopt if the result is not a score of this form. Precondition: scores do not decay.
  std::optional<uint64_t> Sum(uint64_t code, int64_t increment) const;

  // The sum of two scores; nullopt if it is not a score, as for all tuples.
  std::optional<uint64_t> SumOfScores(uint64_t a, uint64_t b) const;

  // The double that stands for the score on servers without forms, and the code that has the
  // nearest double. The order of codes is kept, except that different codes may have equal doubles.
  double Rounded(uint64_t code) const;
  uint64_t Nearest(double rounded) const;

 private:
  static std::optional<ScoreForm> ReadFields(std::string_view text);
  static std::optional<ScoreForm> ReadHalfLife(std::string_view text);
  std::optional<std::vector<uint64_t>> ReadTuple(std::string_view text) const;
  uint64_t CodeOfTuple(const std::vector<uint64_t>& values, bool highest) const;
  uint64_t MostCode() const {  // of a tuple
    return ~uint64_t{0} >> (64 - fields_[0].shift - fields_[0].bits);
  }

  Kind kind_ = Kind::kDouble;
  uint32_t half_life_seconds_ = 0;
  std::vector<Field> fields_;  // of a tuple, the first field first
};

// The longest text of a score: 64 fields of 20 digits, and the slashes.
inline constexpr size_t kMostScoreTextBytes = size_t{64} * 21;

// Whether the text could be a score of several fields: digits and slashes, with at least one slash,
// of a possible length.
bool IsTupleText(std::string_view text);

}  // namespace zsetd
