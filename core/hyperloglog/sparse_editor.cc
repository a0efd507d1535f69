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

// --- Eight bytes of runs at a time ---
//
// The number of registers of runs is a sum over their bytes, each on its own:
//
//   00xxxxxx   x + 1         01xxxxxx   256 x, and the next byte y: y + 1         1vvvvvxx   x + 1
//
// So only the first bytes of two-byte runs must be found. They look like any byte with the highest
// bits 01, except one that follows such a first byte.

constexpr size_t kWord = sizeof(uint64_t);
constexpr uint64_t kLowBits = 0x0101010101010101;  // the lowest bit of each byte

// For each set of bytes that look like the first of a run of two: 0xff in those that are, if the
// first byte of the word starts a run.
constexpr auto kFirstsOfPairs = [] {
  std::array<uint64_t, 256> words = {};
  for (size_t set = 0; set < words.size(); ++set) {
    for (size_t byte = 0; byte < kWord; ++byte) {
      if ((set >> byte & 1) == 0) continue;
      words[set] |= uint64_t{0xff} << (8 * byte);
      ++byte;  // the next one is the second
    }
  }
  return words;
}();

// Bit i is the lowest bit of byte i. The other bits must not be set.
uint8_t Gather(uint64_t low_bits) {
  return static_cast<uint8_t>(low_bits * 0x0102040810204080 >> 56);
}

// The sum of eight bytes, which needs 16 bits.
size_t SumOfBytes(uint64_t bytes) {
  constexpr uint64_t kEvenBytes = 0x00ff00ff00ff00ff;
  const uint64_t pairs = (bytes & kEvenBytes) + (bytes >> 8 & kEvenBytes);
  return pairs * 0x0001000100010001 >> 48;
}

struct WordOfRuns {
  size_t registers = 0;
  bool ends_in_pair = false;  // the last byte is the first of a run of two
};

// `continues`: the first byte is the second one of a run.
WordOfRuns ReadWord(const char* bytes, bool continues) {
  uint64_t word;
  std::memcpy(&word, bytes, kWord);
  const uint64_t have_values = word >> 7 & kLowBits;
  const uint64_t look_like_pairs = word >> 6 & kLowBits & ~have_values & ~uint64_t{continues};
  const uint64_t firsts = kFirstsOfPairs[Gather(look_like_pairs)];
  const uint64_t seconds = firsts << 8 | (continues ? 0xff : 0);
  const uint64_t lengths = word & (0x3f * kLowBits) & ~(have_values * 0x3c);
  const uint64_t added = (lengths & ~firsts & ~seconds) | (word & seconds);
  const size_t ends = SumOfBytes(kLowBits & ~firsts);
  return {.registers = SumOfBytes(added) + ends + 256 * SumOfBytes(lengths & firsts),
          .ends_in_pair = firsts >> 63 != 0};
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

// Reads whole words up to the one of the register, and then the runs from the word before it.
std::optional<SparseEditor::Found> SparseEditor::Find(size_t index) const {
  assert(index < kHllRegisters);
  const Place resumed = index >= resume_end_ ? resume_ : start_;
  Place at = StartOfRunsBefore(resumed, index);
  Found found = {.place = at, .before = at, .before_that = at, .run = {}};
  while (found.place.at < text_.size()) {
    const auto run = FirstRun(std::string_view(text_).substr(found.place.at));
    if (!run) return std::nullopt;
    const size_t end = found.place.first + run->length;
    if (end > index) {
      found.run = *run;
      return found;
    }
    found.before_that = std::exchange(found.before, found.place);
    found.place = {.at = found.place.at + run->bytes, .first = end};
  }
  return std::nullopt;
}

// A run at or after `from`, at or before the run of the register; in between are at least two runs,
// unless it is `from`.
SparseEditor::Place SparseEditor::StartOfRunsBefore(Place from, size_t index) const {
  Place word = from, previous = from;
  bool continues = false, previous_continues = false;
  while (text_.size() - word.at >= kWord) {
    const WordOfRuns runs = ReadWord(&text_[word.at], continues);
    if (word.first + runs.registers > index) break;
    previous = std::exchange(word, {.at = word.at + kWord, .first = word.first + runs.registers});
    previous_continues = std::exchange(continues, runs.ends_in_pair);
  }
  if (!previous_continues) return previous;
  const size_t counted = 256 * (static_cast<uint8_t>(text_[previous.at - 1]) & 0x3fu);
  return {.at = previous.at - 1, .first = previous.first - counted};
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
