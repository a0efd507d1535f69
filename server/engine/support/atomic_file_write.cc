#include "server/engine/support/atomic_file_write.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "server/engine/support/errors.h"

namespace zsetd {

absl::Status ReplaceFile(const std::string& path, std::string_view text,
                         std::filesystem::perms permissions) {
  const std::string draft = path + ".new";
  std::ofstream file(draft);
  std::error_code error;  // then the draft is not there, and writing to it fails
  std::filesystem::permissions(draft, permissions, error);
  file << text << std::flush;
  if (!file) return Refusal("can't write '" + draft + "': " + std::strerror(errno));
  std::filesystem::rename(draft, path, error);
  return error ? Refusal("can't replace '" + path + "': " + error.message()) : absl::OkStatus();
}

}  // namespace zsetd
