#include "server/engine/support/size_text.h"

#include <charconv>
#include <cstdio>
#include <limits>

#include "server/engine/support/ascii_case.h"

namespace zsetd {
namespace {

struct Unit {
  std::string_view name;
  uint64_t bytes;
};

constexpr Unit kUnits[] = {
    {"", 1},
    {"b", 1},
    {"k", 1000},
    {"kb", 1u << 10},
    {"m", 1000 * 1000},
    {"mb", 1u << 20},
    {"g", 1000 * 1000 * 1000},
    {"gb", 1u << 30},
};

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();

std::optional<uint64_t> ParseUnit(std::string_view name) {
  for (const Unit& unit : kUnits) {
    if (EqualsIgnoringCase(unit.name, name)) return unit.bytes;
  }
  return std::nullopt;
}

}  // namespace

std::optional<uint64_t> ParseSize(std::string_view text) {
  uint64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, count);
  if (error == std::errc::invalid_argument) return std::nullopt;
  const std::optional<uint64_t> unit = ParseUnit({rest, end});
  if (!unit) return std::nullopt;
  const bool too_large = error == std::errc::result_out_of_range || count > kMost / *unit;
  return too_large ? kMost : count * *unit;
}

std::string SizeText(uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + "B";
  double size = static_cast<double>(bytes) / 1024;
  const char* unit = "KMGTPE";
  for (; size >= 1024; ++unit) size /= 1024;
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f%c", size, *unit);
  return text;
}

}  // namespace zsetd
