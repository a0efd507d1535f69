#include "core/sorted_set/form/score_form.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/sorted_set/block/score_encoding.h"
#include "core/sorted_set/form/exact_decimal.h"

namespace zsetd {
namespace {

constexpr uint64_t kInt64Sign = uint64_t{1} << 63;
constexpr double kTwoTo63 = 9223372036854775808.0;
constexpr double kTwoTo64 = 18446744073709551616.0;
constexpr int kMostBits = 64;
constexpr int64_t kLeastInteger = std::numeric_limits<int64_t>::min();
constexpr int64_t kMostInteger = std::numeric_limits<int64_t>::max();

char ToUpper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

bool IsWord(std::string_view text, std::string_view word) {
  return std::ranges::equal(text, word, {}, ToUpper);
}

// Takes the text up to the separator, and the separator. Takes all text without one.
std::string_view TakeUpTo(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

template <class Number>
std::optional<Number> ReadNumber(std::string_view text) {
  if (std::is_signed_v<Number> && text.starts_with('+')) text.remove_prefix(1);
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size() && !text.empty();
  return is_whole ? std::optional(number) : std::nullopt;
}

uint64_t CodeOfInteger(int64_t score) { return static_cast<uint64_t>(score) ^ kInt64Sign; }
int64_t IntegerOf(uint64_t code) { return static_cast<int64_t>(code ^ kInt64Sign); }

// The field's bits in a code, as a value and back.
uint64_t InCode(const ScoreForm::Field& field, uint64_t value) {
  return (field.descending ? field.max() - value : value) << field.shift;
}
uint64_t ValueIn(const ScoreForm::Field& field, uint64_t code) {
  const uint64_t bits = code >> field.shift & field.max();
  return field.descending ? field.max() - bits : bits;
}

}  // namespace

ScoreForm ScoreForm::Int64() {
  ScoreForm form;
  form.kind_ = Kind::kInt64;
  return form;
}

std::optional<ScoreForm> ScoreForm::Read(std::string_view text) {
  const std::string_view word = TakeUpTo(text, ' ');
  if (IsWord(word, "TUPLE")) return ReadFields(text);
  if (IsWord(word, "HALFLIFE")) return ReadHalfLife(text);
  if (!text.empty()) return std::nullopt;
  if (IsWord(word, "DOUBLE")) return ScoreForm();
  return IsWord(word, "INT64") ? std::optional(Int64()) : std::nullopt;
}

std::optional<ScoreForm> ScoreForm::ReadFields(std::string_view text) {
  ScoreForm form;
  form.kind_ = Kind::kTuple;
  int total = 0;
  while (!text.empty()) {
    std::string_view word = TakeUpTo(text, ' ');
    const auto bits = ReadNumber<uint32_t>(TakeUpTo(word, ':'));
    const bool is_valid = bits && *bits >= 1 && *bits <= kMostBits &&
                          (word.empty() || IsWord(word, "DESC") || IsWord(word, "ASC"));
    if (!is_valid || (total += static_cast<int>(*bits)) > kMostBits) return std::nullopt;
    form.fields_.push_back(
        {.bits = static_cast<uint8_t>(*bits), .descending = IsWord(word, "DESC")});
  }
  for (Field& field : form.fields_) {
    total -= field.bits;
    field.shift = static_cast<uint8_t>(total);
  }
  return form.fields_.empty() ? std::nullopt : std::optional(std::move(form));
}

std::optional<ScoreForm> ScoreForm::ReadHalfLife(std::string_view text) {
  const auto seconds = ReadNumber<uint32_t>(text);
  if (!seconds || *seconds < 1 || *seconds > HalfLife::kMostSeconds) return std::nullopt;
  ScoreForm form;
  form.kind_ = Kind::kHalfLife;
  form.half_life_seconds_ = *seconds;
  return form;
}

std::string ScoreForm::Text() const {
  switch (kind_) {
    case Kind::kDouble:
      return "DOUBLE";
    case Kind::kInt64:
      return "INT64";
    case Kind::kHalfLife:
      return "HALFLIFE " + std::to_string(half_life_seconds_);
    case Kind::kTuple:
      break;
  }
  std::string text = "TUPLE";
  for (const Field& field : fields_) {
    text += ' ' + std::to_string(field.bits);
    if (field.descending) text += ":DESC";
  }
  return text;
}

std::optional<uint64_t> ScoreForm::Code(std::string_view score) const {
  assert(!is_double());
  if (kind_ == Kind::kInt64) {
    const auto integer = ReadNumber<int64_t>(score);
    return integer ? std::optional(CodeOfInteger(*integer)) : std::nullopt;
  }
  if (decays()) return std::nullopt;
  const auto values = ReadTuple(score);
  if (!values || values->size() != fields_.size()) return std::nullopt;
  return CodeOfTuple(*values, /*highest=*/false);
}

std::optional<uint64_t> ScoreForm::Code(double score, Millis now) const {
  assert(decays());
  if (!std::isfinite(score) || score < 0) return std::nullopt;
  return ScoreCode(half_life().Stored(score, now));
}

bool ScoreForm::IsCode(uint64_t code) const {
  if (decays()) return HalfLife::IsStored(ScoreOf(code));
  return kind_ != Kind::kTuple || code <= MostCode();
}

// Returns the values of the first fields, of which there is at least one.
std::optional<std::vector<uint64_t>> ScoreForm::ReadTuple(std::string_view text) const {
  std::vector<uint64_t> values;
  const size_t parts = std::ranges::count(text, '/') + 1;
  if (parts > fields_.size()) return std::nullopt;
  for (size_t i = 0; i < parts; ++i) {
    const auto value = ReadNumber<uint64_t>(TakeUpTo(text, '/'));
    if (!value || *value > fields_[i].max()) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

// The lowest or the highest code of the tuples that begin with these values.
uint64_t ScoreForm::CodeOfTuple(const std::vector<uint64_t>& values, bool highest) const {
  assert(!values.empty() && values.size() <= fields_.size());
  uint64_t code = 0;
  for (size_t i = 0; i < values.size(); ++i) code |= InCode(fields_[i], values[i]);
  const int left = fields_[values.size() - 1].shift;
  return highest && left > 0 ? code | ~uint64_t{0} >> (64 - left) : code;
}

std::string ScoreForm::ScoreText(uint64_t code) const {
  assert(!is_double() && !decays());
  if (kind_ == Kind::kInt64) return std::to_string(IntegerOf(code));
  std::string text;
  for (const Field& field : fields_) {
    if (!text.empty()) text += '/';
    text += std::to_string(ValueIn(field, code));
  }
  return text;
}

std::optional<CodeRange> ScoreForm::CodesOf(std::string_view score) const {
  if (kind_ != Kind::kTuple) {
    const std::optional<uint64_t> code = Code(score);
    return code ? std::optional(CodeRange{*code, *code}) : std::nullopt;
  }
  const auto values = ReadTuple(score);
  if (!values) return std::nullopt;
  return CodeRange{CodeOfTuple(*values, /*highest=*/false), CodeOfTuple(*values, /*highest=*/true)};
}

std::optional<CodeRange> ScoreForm::CodesFrom(double min, bool exclusive, Millis now) const {
  assert(!is_double() && !std::isnan(min));
  if (std::isinf(min)) return min < 0 ? CodeRange() : CodeRange::None();
  if (decays()) return min < 0 ? CodeRange() : CodeRange{.first = *Code(min, now) + exclusive};
  if (kind_ == Kind::kTuple) return std::nullopt;
  return CodesFrom(ExactDecimal::Of(min), exclusive);
}

std::optional<CodeRange> ScoreForm::CodesUpTo(double max, bool exclusive, Millis now) const {
  assert(!is_double() && !std::isnan(max));
  if (std::isinf(max)) return max > 0 ? CodeRange() : CodeRange::None();
  if (decays()) return max < 0 ? CodeRange::None() : CodeRange{.last = *Code(max, now) - exclusive};
  if (kind_ == Kind::kTuple) return std::nullopt;
  return CodesUpTo(ExactDecimal::Of(max), exclusive);
}

// A number with a fraction is not a score, so `exclusive` only matters for integers.
CodeRange ScoreForm::CodesFrom(const ExactDecimal& min, bool exclusive) const {
  assert(kind_ == Kind::kInt64);
  const __int128 first = min.Ceiling() + (exclusive && !min.has_fraction);
  if (first > kMostInteger) return CodeRange::None();
  return {.first = CodeOfInteger(static_cast<int64_t>(std::max<__int128>(first, kLeastInteger)))};
}

CodeRange ScoreForm::CodesUpTo(const ExactDecimal& max, bool exclusive) const {
  assert(kind_ == Kind::kInt64);
  const __int128 last = max.Floor() - (exclusive && !max.has_fraction);
  if (last < kLeastInteger) return CodeRange::None();
  return {.last = CodeOfInteger(static_cast<int64_t>(std::min<__int128>(last, kMostInteger)))};
}

uint64_t ScoreForm::ZeroCode() const {
  if (kind_ == Kind::kInt64) return CodeOfInteger(0);
  if (decays()) return ScoreCode(-std::numeric_limits<double>::infinity());
  return CodeOfTuple(std::vector<uint64_t>(fields_.size()), /*highest=*/false);
}

std::optional<uint64_t> ScoreForm::Sum(uint64_t code, int64_t increment) const {
  assert(!is_double() && !decays());
  if (kind_ == Kind::kInt64) {
    int64_t sum = 0;
    if (__builtin_add_overflow(IntegerOf(code), increment, &sum)) return std::nullopt;
    return CodeOfInteger(sum);
  }
  const Field& field = fields_[0];
  const uint64_t value = ValueIn(field, code);
  const uint64_t distance = increment < 0 ? 0 - static_cast<uint64_t>(increment) : increment;
  if (distance > (increment < 0 ? value : field.max() - value)) return std::nullopt;
  const uint64_t sum = increment < 0 ? value - distance : value + distance;
  return (code & ~(field.max() << field.shift)) | InCode(field, sum);
}

std::optional<uint64_t> ScoreForm::SumOfScores(uint64_t a, uint64_t b) const {
  if (decays()) return ScoreCode(HalfLife::Sum(ScoreOf(a), ScoreOf(b)));
  return kind_ == Kind::kInt64 ? Sum(a, IntegerOf(b)) : std::nullopt;
}

double ScoreForm::Rounded(uint64_t code) const {
  if (kind_ == Kind::kInt64) return static_cast<double>(IntegerOf(code));
  if (decays()) return ScoreOf(code);
  return static_cast<double>(code);
}

uint64_t ScoreForm::Nearest(double rounded) const {
  if (decays()) return ScoreCode(std::min(rounded, std::numeric_limits<double>::max()) + 0.0);
  if (kind_ == Kind::kInt64) {
    if (!(rounded > -kTwoTo63)) return CodeOfInteger(kLeastInteger);
    if (rounded >= kTwoTo63) return CodeOfInteger(kMostInteger);
    return CodeOfInteger(static_cast<int64_t>(rounded));
  }
  if (!(rounded > 0)) return 0;
  return rounded >= kTwoTo64 ? MostCode() : std::min(MostCode(), static_cast<uint64_t>(rounded));
}

bool IsTupleText(std::string_view text) {
  const auto is_part = [](char c) { return (c >= '0' && c <= '9') || c == '/'; };
  return text.size() <= kMostScoreTextBytes && text.find('/') != std::string_view::npos &&
         std::ranges::all_of(text, is_part);
}

}  // namespace zsetd
