#include "server/engine/config/settings_text.h"

#include <limits>
#include <string_view>
#include <vector>

#include "protocol/text/number_text.h"
#include "server/engine/config/settings_table.h"
#include "server/engine/config/settings_without_effect.h"

namespace zsetd {
namespace {

constexpr size_t kColumns = 79;

constexpr std::string_view kUsage =
    "usage: zsetd [FILE] [--SETTING VALUE ...]... [-]\n"
    "       zsetd --check-config FILE [--SETTING VALUE ...]...\n"
    "       zsetd --help [all] | --version | --list-settings\n"
    "\n"
    "Starts a sorted-set server that speaks the protocol of Redis. Settings come from\n"
    "a file in the syntax of redis.conf, then from standard input (-), then from the\n"
    "line, as with redis-server.\n"
    "--check-config says which settings of a file work here, without starting.\n";

// A list with commas, in lines that begin with two spaces.
std::string Wrapped(const std::vector<std::string>& names) {
  std::string text;
  size_t column = kColumns;
  for (const std::string& name : names) {
    const std::string word = name + (&name == &names.back() ? "" : ",");
    if (column + 1 + word.size() > kColumns) {
      text += std::string(text.empty() ? "" : "\n") + " ";
      column = 1;
    }
    text += " " + word;
    column += 1 + word.size();
  }
  return text + "\n";
}

std::string Section(std::string_view title, const std::vector<std::string>& names) {
  if (names.empty()) return "";
  return std::string(title) + " (" + IntegerText(static_cast<int64_t>(names.size())) + "):\n" +
         Wrapped(names);
}

std::string Joined(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : " | ") + std::string(word);
  return text;
}

std::string Bounds(const Setting& setting) {
  const auto bound = [](int64_t value) {
    return value == std::numeric_limits<int64_t>::max() ? std::string() : IntegerText(value);
  };
  if (setting.is_octal) return "an octal number";
  std::string text = bound(setting.min) + ".." + bound(setting.max);
  if (setting.is_size) text += " bytes";
  if (setting.least_used > setting.min) text += ", at least " + bound(setting.least_used) + " used";
  if (setting.most_used < setting.max) text += ", at most " + bound(setting.most_used) + " used";
  if (setting.or_percent) text += ", or a percentage";
  return text;
}

// One answer for each kind of field.
struct ValuesOf {
  const Setting& setting;

  std::string operator()(int64_t Settings::*) const { return Bounds(setting); }
  std::string operator()(bool Settings::*) const { return "yes | no"; }
  std::string operator()(std::string Settings::*) const {
    return setting.choices.empty() ? "text" : Joined(setting.choices);
  }
  std::string operator()(OutputLimits Settings::*) const { return "class hard soft seconds ..."; }
  std::string operator()(KeyspaceEventFlags Settings::*) const { return "classes of events"; }
  std::string operator()(Percentiles Settings::*) const { return "percentages"; }
  std::string operator()(SavePoints Settings::*) const { return "seconds changes ..."; }
  std::string operator()(ShutdownOptions Settings::*) const {
    return "default | save | nosave | now | force";
  }
  template <Choice Type>
  std::string operator()(Type Settings::*) const {
    return Joined(ChoicesOf(Type{}));
  }
  std::string operator()(NoEffect field) const {
    switch (field.kind) {
      case NoEffect::Kind::kYesNo:
        return "yes | no";
      case NoEffect::Kind::kInteger:
        return Bounds(setting);
      case NoEffect::Kind::kText:
        break;
    }
    return setting.choices.empty() ? "text" : Joined(setting.choices);
  }
};

std::string TableRow(std::initializer_list<std::string_view> columns) {
  std::string line;
  for (const std::string_view column : columns) {
    if (!line.empty()) line += '\t';
    line += column;
  }
  return line + "\n";
}

std::string TableRow(const Setting& setting) {
  const std::string value = ValueOf(setting, Settings());
  const std::string values = std::visit(ValuesOf{setting}, setting.field);
  return TableRow({setting.name, setting.alias, setting.HasEffect() ? "works" : "without effect",
                   value, values, setting.changes_live ? "live" : "start", setting.why_no_other});
}

}  // namespace

std::string HelpText() {
  std::string text(kUsage);
  text +=
      "\n"
      "  --port 6379                the TCP port\n"
      "  --bind '127.0.0.1 -::1'    the addresses; '*' for all: set a password first\n"
      "  --requirepass PASSWORD     what clients must send with AUTH\n"
      "  --dir DIRECTORY            where data is kept\n"
      "  --maxmemory 2gb            beyond it, keys are evicted or writes refused:\n"
      "  --maxmemory-policy POLICY  allkeys-lru, volatile-ttl, noeviction ...\n"
      "  --save '3600 1 300 100'    snapshots, as seconds and changes; '' for none\n"
      "  --appendonly yes           keep every change in a log\n"
      "  --daemonize yes            run in the background\n"
      "  --logfile FILE\n"
      "\n"
      "zsetd --help all lists every setting with its default; zsetd.conf(5) or\n"
      "docs/configuration.md explains them. Try: zsetd, and then redis-cli in another\n"
      "terminal.\n";
  return text;
}

std::string HelpAllText() {
  std::string text = std::string(kUsage) +
                     "\n"
                     "Settings and their defaults. Other settings of Redis are accepted and have\n"
                     "no effect, or are refused where that would mislead.\n"
                     "\n";
  const Settings defaults;
  for (const Setting& setting : AllSettings()) {
    if (!setting.HasEffect()) continue;
    const std::string value = ValueOf(setting, defaults);
    text += "  --" + std::string(setting.name) + " " + (value.empty() ? "\"\"" : value) + "\n";
  }
  return text;
}

std::string SettingsListing() {
  std::string text =
      TableRow({"name", "aliases", "answer", "default", "values", "changes", "reason"});
  text += TableRow({"include", "", "works", "", "text", "start", ""});
  text += TableRow({"user", "", "works", "", "name rules ...", "start", ""});
  text += TableRow({"rename-command", "", "works", "", "name new-name", "start", ""});
  for (const Setting& setting : AllSettings()) text += TableRow(setting);
  for (const std::string_view name : ObsoleteDirectives()) {
    text += TableRow({name, "", "without effect", "", "text", "start", ""});
  }
  for (const RefusedDirective& refused : RefusedDirectives()) {
    text += TableRow({refused.name, "", "refused", "", "", "start", refused.reason});
  }
  return text;
}

std::string ConfigReport(const CommandLine& line) {
  std::vector<std::string> working;
  std::vector<std::string> without_effect;
  for (const std::string& name : line.directives) {
    const Setting* const setting = FindSetting(name);
    const bool works = setting == nullptr ? !IsObsoleteDirective(name) : setting->HasEffect();
    (works ? working : without_effect).push_back(name);
  }
  return Section("works", working) + Section("accepted, without effect here", without_effect);
}

}  // namespace zsetd
