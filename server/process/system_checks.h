#pragma once

#include <string>
#include <vector>

#include "server/engine/config/settings.h"

namespace zsetd {

// Returns a warning for each setting of the operating system that is bad for a server with these
// settings, and for a `dir` in which the server cannot save its data. A warning is one line. It
// contains the command that changes the system's setting. Values that cannot be read are ignored.
// `root` is the directory of the system's files, for tests.
//
//   proc/sys/vm/overcommit_memory                    allocations fail before memory is used up
//   proc/sys/net/core/somaxconn                      is below tcp-backlog
//   sys/kernel/mm/transparent_hugepage/enabled       uses more memory than is needed
std::vector<std::string> SystemWarnings(const Settings& settings, const std::string& root = "/");

}  // namespace zsetd
