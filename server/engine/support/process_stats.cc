#include "server/engine/support/process_stats.h"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>

namespace zsetd {
namespace {

Micros ToMicros(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + Micros(time.tv_usec);
}

CpuTimes CpuTimesOf(int who) {
  rusage usage = {};
  getrusage(who, &usage);
  return {.system = ToMicros(usage.ru_stime), .user = ToMicros(usage.ru_utime)};
}

size_t PageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

CpuTimes CpuTimesOfProcess() { return CpuTimesOf(RUSAGE_SELF); }
CpuTimes CpuTimesOfThread() { return CpuTimesOf(RUSAGE_THREAD); }

size_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");  // in pages: the address space, then resident memory
  size_t total = 0;
  size_t resident = 0;
  file >> total >> resident;
  return resident * PageBytes();
}

size_t PhysicalBytes() { return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * PageBytes(); }

int64_t ProcessId() { return getpid(); }

std::string OperatingSystem() {
  utsname name = {};
  uname(&name);
  return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

}  // namespace zsetd
