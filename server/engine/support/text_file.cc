#include "server/engine/support/text_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "server/engine/support/errors.h"

namespace zsetd {

// A folder opens, but cannot be read.
absl::StatusOr<std::string> ReadTextFile(const std::string& path) {
  constexpr size_t kPieceBytes = 1 << 16;
  std::ifstream file(path, std::ios::binary);
  if (!file) return Refusal(std::strerror(errno));
  std::string text;
  while (file) {
    const size_t size = text.size();
    text.resize(size + kPieceBytes);
    file.read(text.data() + size, kPieceBytes);
    text.resize(size + static_cast<size_t>(file.gcount()));
    if (text.size() > kMostTextFileBytes) return Refusal("it has more than 64 MB");
  }
  if (file.bad()) return Refusal(std::strerror(errno));
  return text;
}

}  // namespace zsetd
