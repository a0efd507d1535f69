#include "server/commands/common/expiry_option.h"

#include <array>
#include <string>

#include "protocol/text/number_text.h"

namespace zsetd {
namespace {

using Form = ExpiryOption::Form;

constexpr Millis kSecond{1000};

struct FormName {
  std::string_view name;
  Form form;
};

constexpr std::array kForms = {
    FormName{"ex", Form::kEx},
    FormName{"px", Form::kPx},
    FormName{"exat", Form::kExAt},
    FormName{"pxat", Form::kPxAt},
};

bool CountsFromNow(Form form) { return form == Form::kEx || form == Form::kPx; }

Millis UnitOf(Form form) { return form == Form::kEx || form == Form::kExAt ? kSecond : Millis(1); }

}  // namespace

std::optional<ExpiryOption> TakeExpiryOption(ArgReader& args) {
  for (const FormName& row : kForms) {
    if (args.Take(row.name)) return ExpiryOption{.form = row.form, .amount = args.Word()};
  }
  return std::nullopt;
}

bool TakeExpiryInto(ArgReader& args, std::optional<ExpiryOption>& taken) {
  const std::optional<ExpiryOption> option = TakeExpiryOption(args);
  if (!option || (taken && taken->form != option->form)) return false;
  taken = option;
  return true;
}

Millis DeadlineOf(Call& call, const ExpiryOption& option) {
  const std::optional<int64_t> amount = ParseInteger(option.amount);
  if (!amount) {
    call.args.Refuse(kNotAnInteger);
    return Millis();
  }
  const Millis origin = CountsFromNow(option.form) ? call.now() : Millis();
  const std::optional<Millis> deadline = CheckedDeadline(origin, *amount, UnitOf(option.form));
  if (*amount <= 0 || !deadline) RefuseExpiry(call);
  return deadline.value_or(Millis());
}

std::optional<Millis> CheckedDeadline(Millis origin, int64_t amount, Millis unit) {
  int64_t deadline = 0;
  if (__builtin_mul_overflow(amount, unit.count(), &deadline)) return std::nullopt;
  if (__builtin_add_overflow(deadline, origin.count(), &deadline)) return std::nullopt;
  return Millis(deadline);
}

void RefuseExpiry(Call& call) {
  call.args.Refuse("ERR invalid expire time in '" + std::string(call.command.name) + "' command");
}

void PropagateDeadline(Call& call, std::string_view key, Millis deadline) {
  if (!call.Propagates()) return;
  const bool is_there = call.keys.all().Find(key) != nullptr;
  if (!is_there) return call.Propagate({"DEL", key});
  call.Propagate({"PEXPIREAT", key, IntegerText(deadline.count())});
}

}  // namespace zsetd
