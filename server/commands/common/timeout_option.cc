#include "server/commands/common/timeout_option.h"

#include <cmath>
#include <cstdint>

namespace zsetd {

Millis TakeTimeout(ArgReader& args, Millis now) {
  const double millis = std::ceil(args.Float("ERR timeout is not a float or out of range") * 1000);
  if (millis < 0) args.Refuse("ERR timeout is negative");
  if (millis > static_cast<double>((Millis::max() - now).count())) {
    args.Refuse("ERR timeout is out of range");
  }
  return args.ok() ? Millis(static_cast<Millis::rep>(millis)) : Millis(0);
}

Millis ReadTimeout(ArgReader& args, std::string_view text, Millis now) {
  ArgReader reader(Args(&text, 1), 0);
  const Millis timeout = TakeTimeout(reader, now);
  if (!reader.ok()) args.Refuse(reader.status());
  return timeout;
}

Millis TakeTimeoutMillis(ArgReader& args, Millis now) {
  const int64_t millis = args.Integer("ERR timeout is not an integer or out of range");
  if (millis < 0) args.Refuse("ERR timeout is negative");
  if (millis > (Millis::max() - now).count()) args.Refuse("ERR timeout is out of range");
  return Millis(millis);
}

}  // namespace zsetd
