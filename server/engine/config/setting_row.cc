#include "server/engine/config/setting_row.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

#include "protocol/text/number_text.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/size_text.h"
#include "server/engine/support/split.h"

namespace zsetd {
namespace {

std::string ValueText(int64_t value) { return IntegerText(value); }

std::string OctalText(int64_t value) {
  char digits[24];
  return {digits, std::to_chars(std::begin(digits), std::end(digits), value, 8).ptr};
}

std::string ValueText(bool value) { return value ? "yes" : "no"; }
std::string ValueText(const std::string& value) { return value; }
std::string ValueText(const OutputLimits& value) { return OutputLimitsText(value); }
std::string ValueText(const KeyspaceEventFlags& value) { return value.Text(); }
std::string ValueText(const Percentiles& value) { return value.Text(); }
std::string ValueText(const SavePoints& value) { return value.Text(); }
std::string ValueText(const ShutdownOptions& value) { return value.Text(); }
std::string ValueText(Choice auto value) { return std::string(ChoiceName(value)); }

absl::Status OutOfBounds(const Setting& setting) {
  if (!setting.why_no_other.empty()) return Refusal(setting.why_no_other);
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
  field = std::clamp(static_cast<int64_t>(*bytes), setting.least_used, setting.most_used);
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

absl::Status ReadValue(const Setting& setting, std::string_view text, int64_t& field) {
  if (setting.is_octal) return ReadOctal(setting, text, field);
  if (setting.is_size) return ReadSize(setting, text, field);
  const std::optional<int64_t> number = ParseInteger(text);
  if (!number) return Refusal("argument couldn't be parsed into an integer");
  if (*number < setting.min || *number > setting.max) return OutOfBounds(setting);
  field = std::clamp(*number, setting.least_used, setting.most_used);
  return absl::OkStatus();
}

absl::Status ReadValue(const Setting&, std::string_view text, bool& field) {
  const bool yes = EqualsIgnoringCase(text, "yes");
  if (!yes && !EqualsIgnoringCase(text, "no")) return Refusal("argument must be 'yes' or 'no'");
  field = yes;
  return absl::OkStatus();
}

using Choices = std::span<const std::string_view>;

absl::Status NoSuchChoice(const Setting& setting, Choices choices) {
  if (!setting.why_no_other.empty()) return Refusal(setting.why_no_other);
  std::string reason = "argument(s) must be one of the following: ";
  for (const std::string_view choice : choices) {
    if (choice != choices.front()) reason += ", ";
    reason += choice;
  }
  return Refusal(reason);
}

// The index of the choice with this name, in any case.
std::optional<size_t> FindChoice(Choices choices, std::string_view text) {
  const auto found = std::ranges::find_if(
      choices, [&](std::string_view choice) { return EqualsIgnoringCase(choice, text); });
  if (found == choices.end()) return std::nullopt;
  return static_cast<size_t>(found - choices.begin());
}

absl::Status ReadValue(const Setting& setting, std::string_view text, Choice auto& field) {
  const Choices choices = ChoicesOf(field);
  const std::optional<size_t> index = FindChoice(choices, text);
  if (!index) return NoSuchChoice(setting, choices);
  field = std::remove_reference_t<decltype(field)>(*index);
  return absl::OkStatus();
}

absl::Status ReadWord(const Setting& setting, std::string_view text, std::string& field) {
  if (setting.choices.empty()) {
    field = text;
    return absl::OkStatus();
  }
  const std::optional<size_t> index = FindChoice(setting.choices, text);
  if (!index) return NoSuchChoice(setting, setting.choices);
  field = setting.choices[*index];
  return absl::OkStatus();
}

absl::Status ReadWords(const Setting& setting, std::string_view text, std::string& field) {
  field.clear();
  for (const std::string_view each : Split(text, ' ')) {
    if (each.empty()) continue;
    std::string word;
    if (absl::Status status = ReadWord(setting, each, word); !status.ok()) return status;
    if (!field.empty()) field += ' ';
    field += word;
  }
  return absl::OkStatus();
}

absl::Status ReadValue(const Setting& setting, std::string_view text, std::string& field) {
  if (!setting.is_secret && text.find('\0') != std::string_view::npos) {
    return Refusal("argument must not hold a NUL");
  }
  std::string value;
  absl::Status status =
      setting.many_words ? ReadWords(setting, text, value) : ReadWord(setting, text, value);
  if (status.ok() && setting.check != nullptr) status = setting.check(value);
  if (status.ok()) field = std::move(value);
  return status;
}

absl::Status ReadValue(const Setting&, std::string_view text, OutputLimits& field) {
  return ReadOutputLimits(text, field);
}

absl::Status ReadValue(const Setting&, std::string_view text, KeyspaceEventFlags& field) {
  return field.Read(text);
}

absl::Status ReadValue(const Setting&, std::string_view text, Percentiles& field) {
  return field.Read(text);
}

absl::Status ReadValue(const Setting&, std::string_view text, SavePoints& field) {
  return field.Read(text);
}

absl::Status ReadValue(const Setting&, std::string_view text, ShutdownOptions& field) {
  return field.Read(text);
}

// Reads the value as one of this type, and keeps its text.
template <class Type>
absl::Status ReadText(const Setting& setting, std::string_view text, std::string& kept) {
  Type value = {};
  const absl::Status status = ReadValue(setting, text, value);
  if (status.ok()) kept = ValueText(value);
  return status;
}

absl::Status ReadWithoutEffect(const Setting& setting, NoEffect::Kind kind, std::string_view text,
                               Settings& settings) {
  std::string value;
  absl::Status status;
  switch (kind) {
    case NoEffect::Kind::kYesNo:
      status = ReadText<bool>(setting, text, value);
      break;
    case NoEffect::Kind::kInteger:
      status = ReadText<int64_t>(setting, text, value);
      break;
    case NoEffect::Kind::kText:
      status = ReadText<std::string>(setting, text, value);
      break;
  }
  if (status.ok()) settings.without_effect.insert_or_assign(std::string(setting.name), value);
  return status;
}

}  // namespace

std::string ValueOf(const Setting& setting, const Settings& settings) {
  if (setting.is_octal) return OctalText(settings.*std::get<int64_t Settings::*>(setting.field));
  if (setting.or_percent) {
    const int64_t value = settings.*std::get<int64_t Settings::*>(setting.field);
    if (value < 0) return IntegerText(-value) + "%";
  }
  return std::visit(
      [&](auto field) {
        if constexpr (std::is_same_v<decltype(field), NoEffect>) {
          const auto given = settings.without_effect.find(setting.name);
          return given == settings.without_effect.end() ? std::string(field.default_value)
                                                        : given->second;
        } else {
          return ValueText(settings.*field);
        }
      },
      setting.field);
}

absl::Status SetValue(const Setting& setting, Settings& settings, std::string_view value) {
  return std::visit(
      [&](auto field) {
        if constexpr (std::is_same_v<decltype(field), NoEffect>) {
          return ReadWithoutEffect(setting, field.kind, value, settings);
        } else {
          return ReadValue(setting, value, settings.*field);
        }
      },
      setting.field);
}

}  // namespace zsetd
