#include "server/engine/command/redaction.h"

#include <cassert>

namespace zsetd {

std::vector<std::string_view> WithoutSecrets(const Command& command, Args argv) {
  constexpr std::string_view kRedacted = "(redacted)";
  std::vector<std::string_view> shown(argv.begin(), argv.end());
  if (command.secrets == nullptr) return shown;
  for (const size_t position : command.secrets(argv)) {
    assert(position < shown.size());
    shown[position] = kRedacted;
  }
  return shown;
}

std::vector<size_t> PositionsFrom(size_t first, Args argv) {
  std::vector<size_t> positions;
  for (size_t at = first; at < argv.size(); ++at) positions.push_back(at);
  return positions;
}

}  // namespace zsetd
