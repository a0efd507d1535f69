#include "server/engine/config/setting_row.h"

#include <charconv>
#include <iterator>
#include <optional>

#include "protocol/text/number_text.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/size_text.h"

namespace zsetd {
namespace {

std::string Text(int64_t value) { return IntegerText(value); }

std::string OctalText(int64_t value) {
  char digits[24];
  return {digits, std::to_chars(std::begin(digits), std::end(digits), value, 8).ptr};
}

std::string Text(bool value) { return value ? "yes" : "no"; }
std::string Text(const std::string& value) { return value; }
std::string Text(const OutputLimits& value) { return OutputLimitsText(value); }
std::string Text(const KeyspaceEventFlags& value) { return value.Text(); }
std::string Text(const Percentiles& value) { return value.Text(); }

absl::Status OutOfBounds(const Setting& setting) {
  return Refusal("argument must be between " + IntegerText(setting.min) + " and " +
                 IntegerText(setting.max) + " inclusive");
}

constexpr std::string_view kNoSizeOrPercent = "argument must be a memory or percent value";

absl::Status ReadPercent(std::string_view text, int64_t& field) {
  const std::optional<int64_t> percent = ParseInteger(text.substr(0, text.size() - 1));
  if (!percent || *percent < 0) return Refusal(kNoSizeOrPercent);
  if (*percent > 100) return Refusal("percentage argument must be less or equal to 100");
  field = -*percent;
  return absl::OkStatus();
}

absl::Status ReadSize(const Setting& setting, std::string_view text, int64_t& field) {
  if (setting.or_percent && text.ends_with('%')) return ReadPercent(text, field);
  const std::optional<uint64_t> bytes = ParseSize(text);
  if (!bytes) {
    return Refusal(setting.or_percent ? kNoSizeOrPercent : "argument must be a memory value");
  }
  if (*bytes < static_cast<uint64_t>(setting.min) || *bytes > static_cast<uint64_t>(setting.max)) {
    return OutOfBounds(setting);
  }
  field = static_cast<int64_t>(*bytes);
  return absl::OkStatus();
}

absl::Status ReadOctal(const Setting& setting, std::string_view text, int64_t& field) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Refusal("argument couldn't be parsed as an octal number");
  }
  if (value < setting.min || value > setting.max) {
    return Refusal("argument must be between " + OctalText(setting.min) + " and " +
                   OctalText(setting.max) + " inclusive");
  }
  field = value;
  return absl::OkStatus();
}

absl::Status Read(const Setting& setting, std::string_view text, int64_t& field) {
  if (setting.is_octal) return ReadOctal(setting, text, field);
  if (setting.is_size) return ReadSize(setting, text, field);
  const std::optional<int64_t> number = ParseInteger(text);
  if (!number) return Refusal("argument couldn't be parsed into an integer");
  if (*number < setting.min || *number > setting.max) return OutOfBounds(setting);
  field = *number;
  return absl::OkStatus();
}

absl::Status Read(const Setting&, std::string_view text, bool& field) {
  const bool yes = EqualsIgnoringCase(text, "yes");
  if (!yes && !EqualsIgnoringCase(text, "no")) return Refusal("argument must be 'yes' or 'no'");
  field = yes;
  return absl::OkStatus();
}

absl::Status NoSuchChoice(const Setting& setting) {
  if (!setting.why_no_other.empty()) return Refusal(setting.why_no_other);
  std::string reason = "argument(s) must be one of the following: ";
  for (const std::string_view choice : setting.choices) {
    if (choice != setting.choices.front()) reason += ", ";
    reason += choice;
  }
  return Refusal(reason);
}

absl::Status Read(const Setting& setting, std::string_view text, std::string& field) {
  if (setting.choices.empty()) {
    field = text;
    return absl::OkStatus();
  }
  for (const std::string_view choice : setting.choices) {
    if (!EqualsIgnoringCase(choice, text)) continue;
    field = choice;
    return absl::OkStatus();
  }
  return NoSuchChoice(setting);
}

absl::Status Read(const Setting&, std::string_view text, OutputLimits& field) {
  return ReadOutputLimits(text, field);
}

absl::Status Read(const Setting&, std::string_view text, KeyspaceEventFlags& field) {
  return field.Read(text);
}

absl::Status Read(const Setting&, std::string_view text, Percentiles& field) {
  return field.Read(text);
}

}  // namespace

std::string ValueOf(const Setting& setting, const Settings& settings) {
  if (setting.is_octal) return OctalText(settings.*std::get<int64_t Settings::*>(setting.field));
  if (setting.or_percent) {
    const int64_t value = settings.*std::get<int64_t Settings::*>(setting.field);
    if (value < 0) return IntegerText(-value) + "%";
  }
  return std::visit([&](auto field) { return Text(settings.*field); }, setting.field);
}

absl::Status SetValue(const Setting& setting, Settings& settings, std::string_view value) {
  return std::visit([&](auto field) { return Read(setting, value, settings.*field); },
                    setting.field);
}

}  // namespace zsetd
