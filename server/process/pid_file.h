#pragma once

#include <string>

#include "absl/status/status.h"

namespace zsetd {

// A file that contains the process ID while this object exists. If another process has written its
// ID in the meantime, the file stays.
class PidFile {
 public:
  PidFile() = default;
  PidFile(const PidFile&) = delete;
  ~PidFile();

  // Writes or overwrites the file. The error states the reason.
  absl::Status Write(const std::string& path);

 private:
  std::string path_;  // empty: no file was written
};

}  // namespace zsetd
