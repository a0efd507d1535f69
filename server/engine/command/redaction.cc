#include "server/engine/command/redaction.h"

#include <cassert>

namespace zsetd {

std::vector<std::string_view> WithoutSecrets(const Command& command, Words words) {
  constexpr std::string_view kRedacted = "(redacted)";
  std::vector<std::string_view> shown(words.begin(), words.end());
  if (command.secrets == nullptr) return shown;
  for (const size_t position : command.secrets(words)) {
    assert(position < shown.size());
    shown[position] = kRedacted;
  }
  return shown;
}

std::vector<size_t> PositionsFrom(size_t first, Words words) {
  std::vector<size_t> positions;
  for (size_t at = first; at < words.size(); ++at) positions.push_back(at);
  return positions;
}

}  // namespace zsetd
