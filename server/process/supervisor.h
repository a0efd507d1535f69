#pragma once

#include <string_view>

#include "server/engine/config/setting_choices.h"
#include "server/engine/support/log.h"

namespace zsetd {

// The program that started this process and supervises it, if the setting `supervised` and the
// environment specify one: NOTIFY_SOCKET for systemd (sd_notify(3)), UPSTART_JOB for upstart.
class Supervisor {
 public:
  // The log outlives this. It need not be open yet.
  Supervisor(Supervision setting, const Log& log);

  // Whether a supervisor exists. The server then stays in the foreground, even with `daemonize`.
  bool Exists() const { return kind_ != Kind::kNone; }

  // Returns "systemd" or "upstart", or "no" without a supervisor.
  std::string_view Name() const;

  // Whether the setting specifies a supervisor, but its environment variable is missing.
  bool IsMissing() const { return missing_; }

  // Notify the supervisor of a change of state. Upstart is notified of readiness only, by SIGSTOP
  // ("expect stop").
  void ReportReady();
  void ReportStopping();

 private:
  enum class Kind { kNone, kUpstart, kSystemd };

  void NotifySystemd(const char* state) const;

  const Log& log_;
  Kind kind_ = Kind::kNone;
  bool missing_ = false;
};

}  // namespace zsetd
