// Preloaded into a server, shifts its wall clock by the number of seconds in the file CLOCK_SHIFT.
// The number is a 64-bit integer, which may change at any time.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace {

const volatile int64_t* MapShift() {
  const int file = open(std::getenv("CLOCK_SHIFT"), O_RDONLY);
  void* const bytes = mmap(nullptr, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  return static_cast<const volatile int64_t*>(bytes);
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static const volatile int64_t* const shift_s = MapShift();
  const long result = syscall(SYS_clock_gettime, clock, time);
  if (clock == CLOCK_REALTIME) time->tv_sec += *shift_s;
  return static_cast<int>(result);
}
