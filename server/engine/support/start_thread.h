#pragma once

#include <functional>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/status/status.h"

namespace zsetd {

// Makes `thread`, which has none, run `work` on a new thread. Returns an error and runs nothing if
// the system permits no further thread, for example at a limit of the user or of a container.
inline absl::Status StartThread(std::thread& thread, std::function<void()> work) {
  try {
    thread = std::thread(std::move(work));
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError("cannot create a thread: " + error.code().message());
  }
  return absl::OkStatus();
}

}  // namespace zsetd
