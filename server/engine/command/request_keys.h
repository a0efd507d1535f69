#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "protocol/resp/args.h"
#include "server/engine/command/command.h"
#include "server/engine/support/ascii_case.h"

namespace zsetd {

// The positions of the keys in one request, as its row's KeyPlaces define them.
//
//   ZUNIONSTORE dest 2 a b             runs: 1 | 3 4
//   MSET a 1 b 2 c 3                   run:  1 3 5
//   GEORADIUS k 1 2 3 m STORE dest     runs: 1 | after each STORE
//
// Keys are a few runs with a constant step, so an object holds any number of keys without an
// allocation. Only keys after a repeatable option are searched for during the iteration.
//
// Views: the row and the arguments outlive the object.
class RequestKeys {
 public:
  // No keys.
  RequestKeys() = default;

  // Finds the keys by `places`. The request may be shorter than its arity. No keys are found if the
  // announced count of keys is not a number or does not fit. O(1), plus O(arguments) for a row
  // with options.
  RequestKeys(const KeyPlaces& places, Args argv) : options_(places.options), argv_(argv) {
    const bool is_simple =
        places.count_at == 0 && places.options.empty() && places.rest_option.empty();
    if (is_simple) [[likely]] {
      AddFixed(places);
    } else {
      FindAll(places);
    }
  }

  class Iterator {
   public:
    using value_type = size_t;
    using difference_type = std::ptrdiff_t;

    size_t operator*() const { return position_; }
    Iterator& operator++() {
      position_ = keys_->Next(run_, position_);
      if (position_ == kNone && ++run_ < keys_->run_count_) {
        position_ = keys_->runs_[run_].first;
      }
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(std::default_sentinel_t) const { return position_ == kNone; }

   private:
    friend class RequestKeys;
    Iterator(const RequestKeys& keys, size_t position) : keys_(&keys), position_(position) {}

    const RequestKeys* keys_;
    size_t run_ = 0;
    size_t position_;  // kNone: the end
  };

  // The positions, in the order of the places in the row.
  Iterator begin() const { return {*this, empty() ? kNone : runs_[0].first}; }
  std::default_sentinel_t end() const { return std::default_sentinel; }

  bool empty() const { return run_count_ == 0; }
  size_t Count() const;  // O(keys)

 private:
  static constexpr size_t kNone = 0;  // where the command's name is
  static constexpr size_t kMostRuns = 4;
  static constexpr uint32_t kSearched = 0;

  // Positions from `first` to before `end`; not empty. If `step` is kSearched, the keys are the
  // arguments after options_[end].
  struct Run {
    uint32_t first;
    uint32_t end;
    uint32_t step;
  };

  size_t Next(size_t run, size_t position) const {
    const Run& in = runs_[run];
    if (in.step == kSearched) [[unlikely]]
      return AfterOption(options_[in.end], position);
    return position + in.step < in.end ? position + in.step : kNone;
  }

  void AddRun(size_t first, size_t end, size_t step) {
    assert(run_count_ < kMostRuns);
    runs_[run_count_++] = {static_cast<uint32_t>(first), static_cast<uint32_t>(end),
                           static_cast<uint32_t>(step)};
  }

  // Adds the keys from places.first to places.last.
  void AddFixed(const KeyPlaces& places) {
    if (places.first == 0) return;
    assert(places.step > 0);
    const int size = static_cast<int>(argv_.size());
    const int last = places.last < 0 ? LastFromEnd(places) : places.last;
    const int end = last < size ? last + 1 : size;
    if (places.first < end) AddRun(places.first, end, places.step);
  }

  // The position that a negative `last` stands for.
  int LastFromEnd(const KeyPlaces& places) const {
    const int last = static_cast<int>(argv_.size()) + places.last;
    const bool has_option = last > places.first && !places.last_option.empty() &&
                            EqualsIgnoringCase(argv_.back(), places.last_option);
    return has_option ? last - 1 : last;
  }

  void FindAll(const KeyPlaces& places);
  void AddRest(const KeyPlaces& places, size_t option);
  void AddOptions(const KeyPlaces& places);
  void AddLastOption(const KeyPlaces& places);
  bool AddCounted(size_t count_at);
  size_t AfterOption(std::string_view option, size_t from) const;

  std::span<const std::string_view> options_;
  Args argv_;
  size_t run_count_ = 0;
  std::array<Run, kMostRuns> runs_;
};

// Returns the keys of a request for the row. Shard channels are not keys.
inline RequestKeys FindKeys(const Command& command, Args argv) {
  if (command.keys.are_channels) return {};
  return {command.keys, argv};
}

}  // namespace zsetd
