#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/util/time.h"
#include "server/engine/call.h"

namespace zsetd {

// One of the four forms of an expiration: EX and PX count from now, EXAT and PXAT from the Unix
// epoch; EX and EXAT in seconds, PX and PXAT in milliseconds.
struct ExpiryOption {
  enum class Form { kEx, kPx, kExAt, kPxAt };

  Form form = Form::kEx;
  std::string_view amount;  // the argument after it, not yet parsed
};

// Takes the option and the argument after it if the next argument is such an option. The amount is
// not parsed yet, because a syntax error further on has precedence.
std::optional<ExpiryOption> TakeExpiryOption(ArgReader& args);

// The same into `taken`, which may already have an option of the same form: the last one counts.
// False if the next argument is not such an option, or one of another form.
bool TakeExpiryInto(ArgReader& args, std::optional<ExpiryOption>& taken);

// The option's deadline. An amount that is not positive, or beyond the latest possible deadline, is
// an error that mentions the call's command. The deadline may be in the past.
Millis DeadlineOf(Call& call, const ExpiryOption& option);

// `origin` + `amount` * `unit`; nothing if that is beyond the latest possible deadline.
std::optional<Millis> CheckedDeadline(Millis origin, int64_t amount, Millis unit);

// "ERR invalid expire time in 'set' command", for the call's command.
void RefuseExpiry(Call& call);

// Propagates the deadline that the key has just got, or that it was deleted for a deadline in the
// past.
void PropagateDeadline(Call& call, std::string_view key, Millis deadline);

}  // namespace zsetd
