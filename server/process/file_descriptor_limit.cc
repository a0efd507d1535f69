#include "server/process/file_descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>

#include "server/engine/config/settings.h"

namespace zsetd {
namespace {

// About 20 are always open: standard streams, listeners, the logs, the lock of the directory, and
// those of Asio. A rewrite, a snapshot, links to other servers, saved configurations, 16
// connections of MIGRATE, and 16 of clients that have ended need the others for a time.
constexpr rlim_t kFiles = 64;

constexpr rlim_t kFilesOfThread = 2;  // epoll, and its signal

// HttpServer keeps 32 connections at most. The others are Asio's, and of listeners.
constexpr rlim_t kFilesOfMetrics = 40;

// Depends on settings that only a start changes. Otherwise CONFIG SET of another setting could fail
// at the limit. Connections to nodes of the cluster count as clients.
rlim_t OwnFiles(const Settings& settings) {
  const rlim_t of_threads = static_cast<rlim_t>(settings.io_threads) * kFilesOfThread;
  return kFiles + of_threads + (settings.metrics_port != 0 ? kFilesOfMetrics : 0);
}

}  // namespace

int64_t MakeRoomForClients(const Settings& settings) {
  const rlim_t clients = static_cast<rlim_t>(settings.maxclients);
  const rlim_t own_files = OwnFiles(settings);
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t wanted = clients + own_files;
  if (limit.rlim_cur < wanted) {
    limit.rlim_cur = std::min(wanted, limit.rlim_max);
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
  }
  const rlim_t room = std::max(limit.rlim_cur, own_files + 1) - own_files;
  return static_cast<int64_t>(std::min(room, clients));
}

}  // namespace zsetd
