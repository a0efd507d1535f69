#include "server/process/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

namespace zsetd {

// open() returns the lowest free number.
void OpenMissingStreams() {
  int opened = 0;
  do {
    opened = open("/dev/null", O_RDWR);
  } while (opened >= 0 && opened <= STDERR_FILENO);
  if (opened > STDERR_FILENO) close(opened);
}

}  // namespace zsetd
