#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/util/time.h"
#include "server/engine/call.h"

namespace zsetd {

// One of the four forms of an expiration. EX and PX count from now, EXAT and PXAT from the Unix
// epoch. EX and EXAT are in seconds, PX and PXAT in milliseconds.
struct ExpiryOption {
  enum class Form { kEx, kPx, kExAt, kPxAt };

  Form form = Form::kEx;
  std::string_view amount;  // the next argument, not yet parsed
};

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
