#include "server/engine/support/process_stats.h"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace zsetd {
namespace {

constexpr int kFieldsBeforeTimes = 11;  // after the name; proc(5) lists them

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
CpuTimes CpuTimesOfMainThread() {
  if (gettid() == getpid()) return CpuTimesOf(RUSAGE_THREAD);
  std::ifstream file("/proc/self/task/" + std::to_string(getpid()) + "/stat");
  std::string field;
  std::getline(file, field, ')');  // the name of the program may contain spaces
  for (int i = 0; i < kFieldsBeforeTimes; ++i) file >> field;
  int64_t user = 0;
  int64_t system = 0;
  file >> user >> system;
  const int64_t per_second = sysconf(_SC_CLK_TCK);
  return {.system = Micros(system * 1'000'000 / per_second),
          .user = Micros(user * 1'000'000 / per_second)};
}

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
