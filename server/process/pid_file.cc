#include "server/process/pid_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "server/engine/support/errors.h"

namespace zsetd {

PidFile::~PidFile() {
  std::ifstream file(path_);
  pid_t written_by = 0;
  if (file >> written_by && written_by == getpid()) unlink(path_.c_str());
}

absl::Status PidFile::Write(const std::string& path) {
  std::ofstream file(path);
  file << getpid() << '\n' << std::flush;
  if (!file) return Refusal("Cannot write the pidfile '" + path + "': " + std::strerror(errno));
  path_ = path;
  return absl::OkStatus();
}

}  // namespace zsetd
