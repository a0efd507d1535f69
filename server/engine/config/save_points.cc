#include "server/engine/config/save_points.h"

#include <optional>

#include "protocol/text/number_text.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/split.h"

namespace zsetd {
namespace {

std::optional<std::vector<SavePoints::Point>> Parse(Args words) {
  if (words.size() % 2 != 0) return std::nullopt;
  std::vector<SavePoints::Point> points;
  for (size_t at = 0; at < words.size(); at += 2) {
    const std::optional<int64_t> age = ParseInteger(words[at]);
    const std::optional<int64_t> changes = ParseInteger(words[at + 1]);
    if (!age || *age < 1 || *age > INT32_MAX || !changes || *changes < 0) return std::nullopt;
    points.push_back({std::chrono::seconds(*age), *changes});
  }
  return points;
}

absl::Status Invalid() { return Refusal("Invalid save parameters"); }

}  // namespace

absl::Status SavePoints::Read(std::string_view text) {
  const auto parsed = Parse(Split(text, ' '));
  if (!parsed || text.ends_with(' ')) return Invalid();
  points = *parsed;
  configured = true;
  return absl::OkStatus();
}

absl::Status SavePoints::ReadMore(Args words) {
  const bool clears = words.size() == 1 && words[0].empty();
  const auto parsed = clears ? Parse({}) : Parse(words);
  if (!parsed) return Invalid();
  if (!configured || clears) points.clear();
  points.insert(points.end(), parsed->begin(), parsed->end());
  configured = true;
  return absl::OkStatus();
}

std::string SavePoints::Text() const {
  std::string text;
  for (const Point& point : points) {
    if (!text.empty()) text += ' ';
    text += IntegerText(point.age.count()) + " " + IntegerText(point.changes);
  }
  return text;
}

}  // namespace zsetd
