#include "server/process/supervisor.h"

#include <systemd/sd-daemon.h>

#include <csignal>
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

void Supervisor::NotifySystemd(const char* state) const {
  const int result = sd_notify(/*unset_environment=*/0, state);
  if (result > 0) return;
  log_.Write(LogLevel::kWarning, "Cannot notify systemd: " + std::string(std::strerror(-result)));
}

void Supervisor::ReportReady() {
  if (kind_ == Kind::kSystemd) NotifySystemd("READY=1\nSTATUS=Ready to accept connections\n");
  if (kind_ == Kind::kUpstart) std::raise(SIGSTOP);
}

void Supervisor::ReportStopping() {
  if (kind_ == Kind::kSystemd) NotifySystemd("STOPPING=1\nSTATUS=Shutting down\n");
}

}  // namespace zsetd
