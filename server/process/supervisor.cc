#include "server/process/supervisor.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace zsetd {
namespace {

constexpr const char* kSystemdSocket = "NOTIFY_SOCKET";
constexpr const char* kUpstartJob = "UPSTART_JOB";

bool Has(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

// Sends one message to the socket of this name. A leading @ stands for NUL, the abstract namespace.
// Returns false if the message cannot be sent.
bool SendTo(std::string name, std::string_view message) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  if (name.size() >= sizeof(address.sun_path)) return false;
  std::memcpy(address.sun_path, name.data(), name.size());
  if (name[0] == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return false;
  const ssize_t sent = sendto(socket, message.data(), message.size(), MSG_NOSIGNAL,
                              reinterpret_cast<const sockaddr*>(&address), size);
  close(socket);
  return sent == static_cast<ssize_t>(message.size());
}

}  // namespace

Supervisor::Supervisor(Supervision setting, const Log& log) : log_(log) {
  const bool any = setting == Supervision::kAuto;
  if ((any || setting == Supervision::kSystemd) && Has(kSystemdSocket)) {
    kind_ = Kind::kSystemd;
  } else if ((any || setting == Supervision::kUpstart) && Has(kUpstartJob)) {
    kind_ = Kind::kUpstart;
  } else {
    missing_ = !any && setting != Supervision::kNo;
  }
}

std::string_view Supervisor::Name() const {
  switch (kind_) {
    case Kind::kNone:
      return "no";
    case Kind::kUpstart:
      return "upstart";
    case Kind::kSystemd:
      return "systemd";
  }
  return "no";
}

void Supervisor::NotifySystemd(std::string_view message) const {
  if (SendTo(std::getenv(kSystemdSocket), message)) return;
  log_.Write(LogLevel::kWarning, "Cannot notify systemd: " + std::string(std::strerror(errno)));
}

void Supervisor::ReportReady() {
  if (kind_ == Kind::kSystemd) NotifySystemd("READY=1\nSTATUS=Ready to accept connections\n");
  if (kind_ == Kind::kUpstart) std::raise(SIGSTOP);
}

void Supervisor::ReportStopping() {
  if (kind_ == Kind::kSystemd) NotifySystemd("STOPPING=1\nSTATUS=Shutting down\n");
}

}  // namespace zsetd
