#include "server/commands/common/expiry_option.h"

#include <cassert>
#include <cstddef>
#include <string>

#include "protocol/text/number_text.h"

namespace zsetd {
namespace {

using Form = ExpiryOption::Form;

struct FormRow {
  std::string_view name;
  Form form;
  Millis unit;
  bool counts_from_now;
};

constexpr FormRow kForms[] = {{"ex", Form::kEx, kSecond, true},
                              {"px", Form::kPx, kMilli, true},
                              {"exat", Form::kExAt, kSecond, false},
                              {"pxat", Form::kPxAt, kMilli, false}};

}  // namespace

std::optional<Form> TakeExpiryForm(ArgReader& args) {
  for (const FormRow& row : kForms) {
    if (args.Take(row.name)) return row.form;
  }
  return std::nullopt;
}

ExpiryUnit UnitOf(Form form, Millis now) {
  const FormRow& row = kForms[static_cast<size_t>(form)];
  assert(row.form == form);
  return {row.counts_from_now ? now : kEpoch, row.unit};
}

std::optional<ExpiryOption> TakeExpiryOption(ArgReader& args) {
  const std::optional<Form> form = TakeExpiryForm(args);
  if (!form) return std::nullopt;
  return ExpiryOption{.form = *form, .amount = args.Word()};
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
  const auto [origin, unit] = UnitOf(option.form, call.now());
  const std::optional<Millis> deadline = CheckedDeadline(origin, *amount, unit);
  if (*amount <= 0 || !deadline) RefuseExpiry(call);
  return deadline.value_or(Millis());
}

std::optional<Millis> CheckedDeadline(Millis origin, int64_t amount, Millis unit) {
  assert(origin >= kEpoch && unit > Millis(0));
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
