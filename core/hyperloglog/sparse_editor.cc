#include "core/hyperloglog/sparse_editor.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
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

// The lengths of runs by their first byte. A long one has the next byte in addition.
struct RunStep {
  uint16_t length = 0;
  uint8_t bytes = 1;
  uint8_t next_byte = 0;  // a mask
};

constexpr std::array<RunStep, 256> kSteps = [] {
  std::array<RunStep, 256> steps;
  for (size_t first = 0; first < steps.size(); ++first) {
    const size_t short_length = (first & (first >= 0x80 ? 0x3 : 0x3f)) + 1;
    const bool is_long = first >= 0x40 && first < 0x80;
    steps[first].length = static_cast<uint16_t>(is_long ? ((first & 0x3f) << 8) + 1 : short_length);
    steps[first].bytes = is_long ? 2 : 1;
    steps[first].next_byte = is_long ? 0xff : 0;
  }
  return steps;
}();

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

// Steps by a table rather than by cases, whose order the processor cannot predict.
std::optional<SparseEditor::Found> SparseEditor::Find(size_t index) const {
  assert(index < kHllRegisters);
  Place place = index >= resume_end_ ? resume_ : start_;
  Place before = place;
  Place before_that = place;
  const char* const bytes = text_.c_str();  // the zero byte at its end may be read
  while (place.at < text_.size()) {
    const RunStep step = kSteps[static_cast<uint8_t>(bytes[place.at])];
    const uint8_t next_byte = static_cast<uint8_t>(bytes[place.at + 1]) & step.next_byte;
    const size_t end = place.first + step.length + next_byte;
    if (end > index) {
      const auto run = FirstRun(std::string_view(text_).substr(place.at));
      if (!run) return std::nullopt;
      return Found{.place = place, .before = before, .before_that = before_that, .run = *run};
    }
    before_that = std::exchange(before, place);
    place = {.at = place.at + step.bytes, .first = end};
  }
  return std::nullopt;
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
