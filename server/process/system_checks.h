#pragma once

#include <string>
#include <vector>

#include "server/engine/config/settings.h"

namespace zsetd {

// What is wrong with how the operating system is set up, for a server with these settings: one line
// for the operator each, with the command that changes it. A value that cannot be read is not
// complained of. `root` is where the system's files are, for tests.
//
//   proc/sys/vm/overcommit_memory                    allocations fail before memory is used up
//   proc/sys/net/core/somaxconn                      is below tcp-backlog
//   sys/kernel/mm/transparent_hugepage/enabled       uses more memory than is needed
std::vector<std::string> SystemWarnings(const Settings& settings, const std::string& root = "/");

}  // namespace zsetd
