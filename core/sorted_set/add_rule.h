#pragma once

namespace zsetd {

// What came of an addition to a sorted set.
struct AddResult {
  enum class Kind {
    kAdded,
    kUpdated,
    kUnchanged,   // it was there with this very score
    kRefused,     // the rule forbade it
    kNotANumber,  // infinity met its opposite; nothing was changed
  };
  Kind kind = Kind::kUnchanged;
  double score = 0;  // the element's score afterwards; for kRefused and kNotANumber meaningless
};

// What ZADD's options ask of one addition.
struct AddRule {
  bool only_new = false;       // NX: leave what is there
  bool only_existing = false;  // XX: add nothing
  bool only_greater = false;   // GT: an existing score may only rise
  bool only_less = false;      // LT: an existing score may only fall
  bool increment = false;      // INCR: the score given is added to the one there
};

}  // namespace zsetd
