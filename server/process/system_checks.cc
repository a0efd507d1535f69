#include "server/process/system_checks.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

#include "protocol/text/number_text.h"

namespace zsetd {
namespace {

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

std::vector<std::string> SystemWarnings(const Settings& settings, const std::string& root) {
  std::vector<std::string> warnings;
  // proc(5): with 2, the sum of all reserved memory is limited, even if it is not used.
  if (FirstLine(root + "proc/sys/vm/overcommit_memory") == "2") {
    warnings.emplace_back(
        "vm.overcommit_memory is 2: allocations may fail and end the server while memory is free. "
        "To fix this, run: sysctl vm.overcommit_memory=1");
  }
  const std::string longest = FirstLine(root + "proc/sys/net/core/somaxconn");
  const std::optional<int64_t> somaxconn = ParseInteger(longest);
  if (somaxconn && *somaxconn < settings.tcp_backlog) {
    const std::string wanted = std::to_string(settings.tcp_backlog);
    warnings.push_back("tcp-backlog " + wanted + " is limited to " + longest +
                       " by the system. To fix this, run: sysctl net.core.somaxconn=" + wanted);
  }
  if (FirstLine(root + "sys/kernel/mm/transparent_hugepage/enabled").starts_with("[always]")) {
    warnings.emplace_back(
        "Transparent huge pages are always used, which takes more memory than needed. To fix this, "
        "run: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
  }
  const bool writes_files = settings.save.Any() || settings.appendonly;
  if (writes_files && access(settings.dir.c_str(), W_OK | X_OK) != 0) {
    warnings.push_back("The server cannot save its data, because it cannot write in '" +
                       settings.dir + "': " + std::strerror(errno));
  }
  return warnings;
}

}  // namespace zsetd
