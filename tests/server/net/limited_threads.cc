// Preloaded into a server, lets it create only a limited number of threads. The file THREADS_LEFT
// contains the number of further threads, as a 64-bit integer, which may change at any time.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

namespace {

int64_t* MapThreadsLeft() {
  const int file = open(std::getenv("THREADS_LEFT"), O_RDWR);
  void* const bytes = mmap(nullptr, sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return static_cast<int64_t*>(bytes);
}

bool TakeThread() {
  static int64_t* const left = MapThreadsLeft();
  if (__atomic_sub_fetch(left, 1, __ATOMIC_SEQ_CST) >= 0) return true;
  __atomic_store_n(left, 0, __ATOMIC_SEQ_CST);
  return false;
}

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*work)(void*), void* argument) {
  using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static auto* const next = reinterpret_cast<Create*>(dlsym(RTLD_NEXT, "pthread_create"));
  return TakeThread() ? next(thread, attributes, work, argument) : EAGAIN;
}
