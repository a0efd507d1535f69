#include "server/engine/metrics/error_counts.h"

#include <algorithm>

namespace zsetd {
namespace {

constexpr size_t kMostCodeBytes = 30;

std::string CodeOf(std::string_view line) {
  const size_t end = line.substr(0, kMostCodeBytes + 1).find(' ');
  if (end == std::string_view::npos) return "ERR";
  std::string code(line.substr(0, end));
  const auto breaks_info = [](char byte) {
    return byte == '#' || byte == ':' || byte == '\n' || byte == '\r';
  };
  std::ranges::replace_if(code, breaks_info, '_');
  return code;
}

}  // namespace

void ErrorCounts::Add(std::string_view line) {
  const std::string code = CodeOf(line);
  const auto known = by_code_.find(code);
  if (known != by_code_.end()) {
    ++known->second;
  } else {
    ++by_code_[by_code_.size() < kMostCodes ? code : std::string(kOverflow)];
  }
}

}  // namespace zsetd
