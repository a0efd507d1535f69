#pragma once

#include <string>

#include "absl/status/status.h"

namespace zsetd {

// A file that holds the process's number while this lives.
class PidFile {
 public:
  PidFile() = default;
  PidFile(const PidFile&) = delete;
  ~PidFile();

  // Writes or overwrites the file. The error states the reason.
  absl::Status Write(const std::string& path);

 private:
  std::string path_;  // empty: nothing was written
};

}  // namespace zsetd
