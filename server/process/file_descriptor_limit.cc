#include "server/process/file_descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>

namespace zsetd {
namespace {

constexpr rlim_t kOwnFiles = 32;  // besides clients: the log, listeners, epoll, ...

}  // namespace

int64_t MakeRoomForClients(int64_t clients) {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t wanted = static_cast<rlim_t>(clients) + kOwnFiles;
  if (limit.rlim_cur < wanted) {
    limit.rlim_cur = std::min(wanted, limit.rlim_max);
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
  }
  const rlim_t room = std::max(limit.rlim_cur, kOwnFiles + 1) - kOwnFiles;
  return static_cast<int64_t>(std::min(room, static_cast<rlim_t>(clients)));
}

}  // namespace zsetd
