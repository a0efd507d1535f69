#include "core/hyperloglog/sparse_editor.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <utility>

namespace zsetd {
namespace {

char ValueRun(uint8_t value, size_t length) {
  assert(1 <= value && value <= kMostSparseValue && 1 <= length && length <= kMostValueRun);
  return static_cast<char>(0x80 | (value - 1) << 2 | (length - 1));
}

// Up to three runs, the parts of a divided one, as bytes.
class Parts {
 public:
  // Nothing for a length of 0.
  void Add(uint8_t value, size_t length) {
    if (length == 0) return;
    if (value != 0) return Push(ValueRun(value, length));
    const size_t stored = length - 1;
    if (length > kMostShortZeroRun) Push(static_cast<char>(0x40 | stored >> 8));
    Push(static_cast<char>(stored));
  }

  std::string_view bytes() const { return {bytes_.data(), size_}; }

 private:
  void Push(char byte) { bytes_[size_++] = byte; }

  std::array<char, 5> bytes_ = {};
  size_t size_ = 0;
};

constexpr size_t kWord = sizeof(uint64_t);
constexpr uint64_t kLowBits = 0x0101010101010101;  // the lowest bit of each byte

// The lengths, less one, of eight runs of a byte each. Nullopt if one of them is longer.
std::optional<uint64_t> ShortRuns(const char* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, kWord);
  const uint64_t have_values = word >> 7 & kLowBits;
  if ((word >> 6 & kLowBits & ~have_values) != 0) return std::nullopt;
  return word & (0x3f * kLowBits) & ~(have_values * 0x3c);
}

// The sum of eight bytes, which needs 16 bits.
size_t SumOfBytes(uint64_t bytes) {
  constexpr uint64_t kEvenBytes = 0x00ff00ff00ff00ff;
  const uint64_t pairs = (bytes & kEvenBytes) + (bytes >> 8 & kEvenBytes);
  return pairs * 0x0001000100010001 >> 48;
}

}  // namespace

SparseEditor::Result SparseEditor::Raise(HllUpdate update) {
  if (update.value > kMostSparseValue) return Result::kNeedsDense;
  const std::optional<Found> found = Find(update.index);
  if (!found) return Result::kDamaged;
  if (found->run.value >= update.value) return Result::kUnchanged;
  if (!Divide(*found, update)) return Result::kNeedsDense;
  JoinFrom(found->before.at);
  const bool knows_both = found->before_that.at != found->before.at;
  resume_ = knows_both ? found->before_that : start_;
  resume_end_ = knows_both ? found->before.first : 0;
  return Result::kRaised;
}

std::optional<SparseEditor::Found> SparseEditor::Find(size_t index) const {
  assert(index < kHllRegisters);
  const Place resumed = index >= resume_end_ ? resume_ : start_;
  Found found = {.place = resumed, .before = resumed, .before_that = resumed, .run = {}};
  while (found.place.at < text_.size()) {
    if (Skip(found, index)) continue;
    while (true) {
      if (found.place.at == text_.size()) return std::nullopt;
      const auto run = FirstRun(std::string_view(text_).substr(found.place.at));
      if (!run) return std::nullopt;
      const size_t end = found.place.first + run->length;
      if (end > index) {
        found.run = *run;
        return found;
      }
      found.before_that = std::exchange(found.before, found.place);
      found.place = {.at = found.place.at + run->bytes, .first = end};
      if (run->bytes > 1) break;
    }
  }
  return std::nullopt;
}

// Skips eight runs in one step, if they have a byte each and end before the register. Else the next
// runs are read one by one: up to a longer one, or to that of the register.
bool SparseEditor::Skip(Found& found, size_t index) const {
  if (text_.size() - found.place.at < kWord) return false;
  const std::optional<uint64_t> lengths = ShortRuns(&text_[found.place.at]);
  if (!lengths) return false;
  const size_t end = found.place.first + SumOfBytes(*lengths) + kWord;
  if (end > index) return false;
  const auto length = [&](int byte) { return (*lengths >> (8 * byte) & 0xff) + 1; };
  const size_t next = found.place.at + kWord;
  found.before = {.at = next - 1, .first = end - length(7)};
  found.before_that = {.at = next - 2, .first = found.before.first - length(6)};
  found.place = {.at = next, .first = end};
  return true;
}

// Gives the register a run of its own within the found one. False if the string would become too
// long.
bool SparseEditor::Divide(const Found& found, HllUpdate update) {
  const SparseRun& run = found.run;
  const size_t before = update.index - found.place.first;
  Parts parts;
  parts.Add(run.value, before);
  parts.Add(update.value, 1);
  parts.Add(run.value, run.length - before - 1);
  const size_t bytes = parts.bytes().size();
  if (bytes > run.bytes && text_.size() + bytes - run.bytes > most_bytes_) return false;
  ReplaceBytes(found.place.at, run.bytes, parts.bytes());
  return true;
}

// Joins equal runs of values among the next five runs, as far as their sum fits one.
void SparseEditor::JoinFrom(size_t at) {
  constexpr int kLooks = 5;
  for (int look = 0; look < kLooks && at < text_.size(); ++look) {
    const SparseRun run = FirstRun(std::string_view(text_).substr(at)).value_or(SparseRun());
    const bool may_join = run.HasValue() && at + 1 < text_.size() && IsValueRun(text_[at + 1]);
    if (may_join) {
      const SparseRun next = *FirstRun(std::string_view(text_).substr(at + 1));
      const size_t length = run.length + next.length;
      if (next.value == run.value && length <= kMostValueRun) {
        text_[at] = ValueRun(run.value, length);
        text_.erase(at + 1, 1);
        continue;  // with the joined run and the next
      }
    }
    at += run.bytes;
  }
}

// Grows the string like redis-server does: by half of what std::string would reserve, or less.
void SparseEditor::ReplaceBytes(size_t at, size_t count, std::string_view bytes) {
  const size_t size = text_.size() - count + bytes.size();
  if (size > text_.capacity()) {
    constexpr size_t kMostRoom = 256;
    std::string larger;
    larger.reserve(std::min(most_bytes_, size + std::min(size / 2, kMostRoom)));
    larger.assign(text_);
    text_.swap(larger);
  }
  text_.replace(at, count, bytes);
}

}  // namespace zsetd
