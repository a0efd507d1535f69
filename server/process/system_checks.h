#pragma once

#include <string>
#include <vector>

#include "server/engine/config/settings.h"

namespace zsetd {

// The defects of the operating system's configuration for a server with these settings: one line
// each, with the command that corrects it. Values that cannot be read are ignored. `root` contains
// the system's files, for tests.
//
//   proc/sys/vm/overcommit_memory                    allocations fail before memory is used up
//   proc/sys/net/core/somaxconn                      is below tcp-backlog
//   sys/kernel/mm/transparent_hugepage/enabled       uses more memory than is needed
std::vector<std::string> SystemWarnings(const Settings& settings, const std::string& root = "/");

}  // namespace zsetd
