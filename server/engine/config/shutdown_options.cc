#include "server/engine/config/shutdown_options.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/split.h"

namespace zsetd {
namespace {

constexpr std::string_view kDefault = "default";

// In the order in which Redis shows them.
constexpr std::pair<std::string_view, bool ShutdownOptions::*> kOptions[] = {
    {"save", &ShutdownOptions::save},
    {"nosave", &ShutdownOptions::nosave},
    {"now", &ShutdownOptions::now},
    {"force", &ShutdownOptions::force},
};

}  // namespace

std::string ShutdownOptions::Text() const {
  std::string text;
  for (const auto& [name, option] : kOptions) {
    if (!(this->*option)) continue;
    if (!text.empty()) text += ' ';
    text += name;
  }
  return text.empty() ? std::string(kDefault) : text;
}

bool ShutdownOptions::Add(std::string_view name) {
  const auto* const found = std::ranges::find_if(
      kOptions, [&](const auto& option) { return EqualsIgnoringCase(option.first, name); });
  if (found == std::end(kOptions)) return false;
  this->*found->second = true;
  return true;
}

absl::Status ShutdownOptions::Read(std::string_view words) {
  ShutdownOptions read;
  for (const std::string_view word : Split(words, ' ')) {
    if (word.empty() || EqualsIgnoringCase(word, kDefault) || read.Add(word)) continue;
    return Refusal("argument(s) must be one of the following: default, save, nosave, now, force");
  }
  if (read.Contradicts()) {
    return Refusal("shutdown options SAVE and NOSAVE can't be used simultaneously");
  }
  *this = read;
  return absl::OkStatus();
}

}  // namespace zsetd
