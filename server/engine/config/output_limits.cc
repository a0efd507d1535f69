#include "server/engine/config/output_limits.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "protocol/text/number_text.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/size_text.h"
#include "server/engine/support/split.h"

namespace zsetd {
namespace {

struct ClientClass {
  std::string_view name;
  OutputLimit OutputLimits::*limit;
};

constexpr ClientClass kClasses[] = {
    {"normal", &OutputLimits::normal},
    {"slave", &OutputLimits::replica},
    {"pubsub", &OutputLimits::pubsub},
};

constexpr size_t kWordsPerClass = 4;
constexpr uint64_t kMaxBytes = std::numeric_limits<int64_t>::max();

const ClientClass* FindClass(std::string_view name) {
  if (EqualsIgnoringCase(name, "replica")) name = "slave";
  const auto found = std::ranges::find_if(
      kClasses, [&](const ClientClass& each) { return EqualsIgnoringCase(each.name, name); });
  return found == std::end(kClasses) ? nullptr : found;
}

std::optional<OutputLimit> ParseLimit(std::string_view hard, std::string_view soft,
                                      std::string_view seconds) {
  const std::optional<uint64_t> hard_bytes = ParseSize(hard);
  const std::optional<uint64_t> soft_bytes = ParseSize(soft);
  const std::optional<int64_t> soft_seconds = ParseInteger(seconds);
  if (!hard_bytes || !soft_bytes || !soft_seconds || *soft_seconds < 0) return std::nullopt;
  return OutputLimit{static_cast<int64_t>(std::min(*hard_bytes, kMaxBytes)),
                     static_cast<int64_t>(std::min(*soft_bytes, kMaxBytes)), *soft_seconds};
}

}  // namespace

std::string OutputLimitsText(const OutputLimits& limits) {
  std::string text;
  for (const auto& [name, field] : kClasses) {
    const OutputLimit& limit = limits.*field;
    if (!text.empty()) text += ' ';
    text += name;
    for (const int64_t number : {limit.hard_bytes, limit.soft_bytes, limit.soft_seconds}) {
      text += ' ' + IntegerText(number);
    }
  }
  return text;
}

absl::Status ReadOutputLimits(std::string_view text, OutputLimits& limits) {
  const std::vector<std::string_view> words = Split(text, ' ');
  if (words.empty() || words.size() % kWordsPerClass != 0 || text.ends_with(' ')) {
    return Refusal("Wrong number of arguments in buffer limit configuration.");
  }
  OutputLimits changed = limits;
  for (size_t at = 0; at < words.size(); at += kWordsPerClass) {
    const ClientClass* const client_class = FindClass(words[at]);
    if (client_class == nullptr) {
      return Refusal("Invalid client class specified in buffer limit configuration.");
    }
    const auto limit = ParseLimit(words[at + 1], words[at + 2], words[at + 3]);
    if (!limit) {
      return Refusal("Error in hard, soft or soft_seconds setting in buffer limit configuration.");
    }
    changed.*client_class->limit = *limit;
  }
  limits = changed;
  return absl::OkStatus();
}

}  // namespace zsetd
