#include "server/process/background.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "server/engine/support/allocator_stats.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

absl::Status Failure(const char* what) {
  return Refusal("Cannot daemonize: " + std::string(what) + ": " + std::strerror(errno));
}

// Waits for the child's report and returns the exit code for the started process.
int AwaitReport(int pipe, pid_t child) {
  char byte = 0;
  ssize_t count = 0;
  do {
    count = read(pipe, &byte, 1);
  } while (count < 0 && errno == EINTR);
  if (count == 1) return EXIT_SUCCESS;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : EXIT_FAILURE;
}

}  // namespace

Background::~Background() {
  if (report_ >= 0) close(report_);
}

absl::Status Background::Enter() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Failure("pipe");
  const pid_t child = fork();
  if (child < 0) {
    const absl::Status failure = Failure("fork");
    close(ends[0]);
    close(ends[1]);
    return failure;
  }
  if (child > 0) {
    close(ends[1]);
    _exit(AwaitReport(ends[0], child));
  }
  close(ends[0]);
  report_ = ends[1];
  setsid();
  RestartAllocatorThreads();
  return absl::OkStatus();
}

void Background::ReportReady() {
  if (report_ < 0) return;
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (nothing >= 0) dup2(nothing, stream);
  }
  if (nothing > STDERR_FILENO) close(nothing);
  const char ready = '1';
  // If the parent was killed, the write fails (SIGPIPE is ignored), and the server continues.
  [[maybe_unused]] const ssize_t written = write(report_, &ready, 1);
  close(std::exchange(report_, -1));
}

}  // namespace zsetd
