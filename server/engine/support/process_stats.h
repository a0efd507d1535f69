#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/util/time.h"

namespace zsetd {

// The system's statistics of this process and its machine.

struct CpuTimes {
  Micros system;
  Micros user;
};

CpuTimes CpuTimesOfProcess();
CpuTimes CpuTimesOfMainThread();  // in steps of 10 ms if another thread calls it

size_t ResidentBytes();  // physical memory that the process takes
size_t PhysicalBytes();  // that the machine has

int64_t ProcessId();
std::string OperatingSystem();  // "Linux 6.1.0 x86_64"

}  // namespace zsetd
