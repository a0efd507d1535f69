#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/util/time.h"
#include "server/engine/call.h"

namespace zsetd {

inline constexpr Millis kEpoch{0};
inline constexpr Millis kMilli{1};
inline constexpr Millis kSecond{1000};

// The origin and the unit of a time in a request.
struct ExpiryUnit {
  Millis origin = kEpoch;
  Millis unit = kMilli;
};

// One of the four forms of an expiration. EX and PX count from now, EXAT and PXAT from the Unix
// epoch. EX and EXAT are in seconds, PX and PXAT in milliseconds.
struct ExpiryOption {
  enum class Form { kEx, kPx, kExAt, kPxAt };

  Form form = Form::kEx;
  std::string_view amount;  // the next argument, not yet parsed
};

// Takes the name of the option if it is the next argument; its amount follows.
std::optional<ExpiryOption::Form> TakeExpiryForm(ArgReader& args);

// Returns the origin and the unit of amounts of this form.
ExpiryUnit UnitOf(ExpiryOption::Form form, Millis now);

// Takes the option and its amount if the next argument is such an option. The amount is not parsed
// yet, because a later syntax error has precedence.
std::optional<ExpiryOption> TakeExpiryOption(ArgReader& args);

// Like `TakeExpiryOption()`, but stores the option in `taken`. An option of the same form may be
// repeated; the last one counts. Returns false if the next argument is not such an option, or has
// another form.
bool TakeExpiryInto(ArgReader& args, std::optional<ExpiryOption>& taken);

// Returns the option's deadline, which may be in the past. Refuses an amount that is not positive,
// or is beyond the latest possible deadline. The error names the call's command.
Millis DeadlineOf(Call& call, const ExpiryOption& option);

// Returns `origin` + `amount` * `unit`; nullopt if it is beyond the latest possible deadline.
std::optional<Millis> CheckedDeadline(Millis origin, int64_t amount, Millis unit);

// Refuses the call with "ERR invalid expire time in 'set' command".
void RefuseExpiry(Call& call);

// Propagates the key's new deadline, or the key's deletion if the deadline is in the past.
void PropagateDeadline(Call& call, std::string_view key, Millis deadline);

}  // namespace zsetd
