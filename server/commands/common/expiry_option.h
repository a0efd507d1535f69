#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/util/time.h"
#include "server/engine/call.h"

namespace zsetd {

// One of the four ways to tell when a key ends: EX and PX count from now, EXAT and PXAT from the
// Unix epoch; EX and EXAT in seconds, PX and PXAT in milliseconds.
struct ExpiryOption {
  enum class Form { kEx, kPx, kExAt, kPxAt };

  Form form = Form::kEx;
  std::string_view amount;  // the word after it, as yet unread
};

// Takes the option and the word after it if the next argument is one. Whether that word is a number
// is not looked at yet, for a syntax error further on comes before it.
std::optional<ExpiryOption> TakeExpiryOption(ArgReader& args);

// The same into `taken`, where an option of that form may stand already: the last one counts. False
// if the next argument is none, or one of another form.
bool TakeExpiryInto(ArgReader& args, std::optional<ExpiryOption>& taken);

// The deadline that the option tells. Refuses, in the name of the call's command, an amount that is
// not positive or leads further than a deadline can lie. A deadline may be past already.
Millis DeadlineOf(Call& call, const ExpiryOption& option);

// `origin` + `amount` * `unit`; nothing if that leads further than a deadline can lie.
std::optional<Millis> CheckedDeadline(Millis origin, int64_t amount, Millis unit);

// "ERR invalid expire time in 'set' command", for the call's command.
void RefuseExpiry(Call& call);

}  // namespace zsetd
