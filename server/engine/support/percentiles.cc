#include "server/engine/support/percentiles.h"

#include <optional>

#include "protocol/resp/inline_words.h"
#include "protocol/text/number_text.h"
#include "server/engine/support/errors.h"

namespace zsetd {

absl::Status Percentiles::Read(std::string_view text) {
  constexpr std::string_view kName = "latency-tracking-info-percentiles parameters";
  const auto words = SplitWords(text);
  if (!words) return Refusal("Invalid " + std::string(kName));
  std::vector<double> read;
  for (const std::string& word : *words) {
    const std::optional<double> percent = ParseDouble(word);
    if (!percent) return Refusal("Invalid " + std::string(kName));
    if (*percent < 0 || *percent > 100) {
      return Refusal(std::string(kName) + " should sit between [0.0,100.0]");
    }
    read.push_back(*percent);
  }
  percents = std::move(read);
  return absl::OkStatus();
}

std::string Percentiles::Text() const {
  std::string text;
  for (const double percent : percents) text += (text.empty() ? "" : " ") + DoubleText(percent);
  return text;
}

}  // namespace zsetd
