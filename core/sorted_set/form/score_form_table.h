#pragma once

#include <cstdint>

#include "core/sorted_set/form/score_form.h"

namespace zsetd {

// The forms of scores that sorted sets of this process have. Many sets share few forms, so a set
// keeps a number of 15 bits instead of the form, for which it has room.
//
// A number counts its users; a form without users leaves the table. DOUBLE has number 0 and INT64
// number 1, which are not counted. All functions may be called by any thread: sets are freed in the
// background.
class ScoreFormTable {
 public:
  static constexpr uint16_t kDouble = 0;
  static constexpr uint16_t kInt64 = 1;
  static constexpr uint16_t kMostForms = (1u << 15) - 1;  // in use at the same time

  // The number of a form, with one more user; kDouble if the table has no room. O(log forms).
  static uint16_t Take(const ScoreForm& form);

  // Counts one more user of a number, or one less. O(1), Release() O(log forms).
  static void Share(uint16_t number);
  static void Release(uint16_t number);

  // The form of a number that the caller uses. O(1), without a lock.
  static const ScoreForm& Get(uint16_t number);
};

}  // namespace zsetd
