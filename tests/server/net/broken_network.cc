// Preloaded into a server, makes the network fail. The file FAULTS states for each of the calls
// accept, recv and send how many in 256 fail, and with which error. It is an array of three Fault,
// which may change at any time. If the error is -1, the call succeeds with one byte or half of the
// bytes that it could transfer.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

namespace {

struct Fault {
  uint32_t in_256;
  int32_t error;
};

constexpr int kShort = -1;

enum Call { kAccept, kReceive, kSend };

const volatile Fault* MapFaults() {
  const int file = open(std::getenv("FAULTS"), O_RDONLY);
  void* const bytes = mmap(nullptr, 3 * sizeof(Fault), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  return static_cast<const volatile Fault*>(bytes);
}

// Returns the error of this call; 0 if it does not fail.
int FaultOf(Call call) {
  static const volatile Fault* const faults = MapFaults();
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  if ((state >> 56) >= faults[call].in_256) return 0;
  return faults[call].error;
}

int Fail(int error) {
  errno = error;
  return -1;
}

size_t Shortened(size_t size) { return size < 100 ? 1 : size / 2; }

template <class Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" int accept(int socket, sockaddr* address, socklen_t* size) {
  static auto* const next = Next<int(int, sockaddr*, socklen_t*)>("accept");
  const int error = FaultOf(kAccept);
  if (error == 0) return next(socket, address, size);
  if (error == ECONNABORTED) close(next(socket, nullptr, nullptr));  // removes it from the queue
  return Fail(error);
}

extern "C" ssize_t recv(int socket, void* bytes, size_t size, int flags) {
  static auto* const next = Next<ssize_t(int, void*, size_t, int)>("recv");
  const int error = (flags & MSG_PEEK) != 0 ? 0 : FaultOf(kReceive);
  if (error == kShort) return next(socket, bytes, Shortened(size), flags);
  return error == 0 ? next(socket, bytes, size, flags) : Fail(error);
}

extern "C" ssize_t send(int socket, const void* bytes, size_t size, int flags) {
  static auto* const next = Next<ssize_t(int, const void*, size_t, int)>("send");
  const int error = FaultOf(kSend);
  if (error == kShort) return next(socket, bytes, Shortened(size), flags);
  return error == 0 ? next(socket, bytes, size, flags) : Fail(error);
}
