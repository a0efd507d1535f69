#include "server/net/socket/wake_signal.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace zsetd {

WakeSignal::WakeSignal() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::system_category(), "eventfd");
}

WakeSignal::~WakeSignal() { ::close(descriptor_); }

// The write fails only if the count is at its maximum, which is a signal, too.
void WakeSignal::Send() const { (void)::eventfd_write(descriptor_, 1); }

void WakeSignal::Clear() const {
  eventfd_t count;
  (void)::eventfd_read(descriptor_, &count);
}

}  // namespace zsetd
