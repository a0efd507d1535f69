#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/hyperloglog/registers.h"
#include "core/hyperloglog/sparse_registers.h"

namespace zsetd {

// Raises sparsely encoded registers, which are the end of a string. The runs that result are those
// of redis-server for the same updates in the same order: it divides the run of the register, and
// joins equal neighbours only near it.
//
// It remembers a place before the last update, so that a later update with a greater index does not
// search from the start. Updates in the order of their registers take O(1) each, others O(runs).
// The string may be damaged: an update touches only runs that are complete, and fails if its
// register is in none.
class SparseEditor {
 public:
  enum class Result {
    kUnchanged,  // the register has this value or a greater one
    kRaised,
    kNeedsDense,  // nothing was changed: the value is too great, or the string would become too
                  // long
    kDamaged,     // nothing was changed
  };

  // The registers begin at `begin`. The string does not grow beyond `most_bytes`. It outlives this,
  // and nothing else changes it.
  SparseEditor(std::string& text, size_t begin, size_t most_bytes)
      : text_(text), most_bytes_(most_bytes), start_{.at = begin}, resume_(start_) {}
  SparseEditor(const SparseEditor&) = delete;

  Result Raise(HllUpdate update);

 private:
  // A run: its offset in the string, and its first register.
  struct Place {
    size_t at = 0;
    size_t first = 0;
  };

  // The run of a register, and those before it. The first runs are their own predecessors.
  struct Found {
    Place place;
    Place before;
    Place before_that;
    SparseRun run;
  };

  std::optional<Found> Find(size_t index) const;
  Place StartOfRunsBefore(Place from, size_t index) const;
  bool Divide(const Found& found, HllUpdate update);
  void JoinFrom(size_t at);
  void ReplaceBytes(size_t at, size_t count, std::string_view bytes);

  std::string& text_;
  const size_t most_bytes_;
  const Place start_;

  // A run before which nothing will be joined by updates of registers from `resume_end_`, its end.
  Place resume_;
  size_t resume_end_ = 0;
};

}  // namespace zsetd
