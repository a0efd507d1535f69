#pragma once

#include <string_view>

#include "server/engine/config/setting_choices.h"

namespace zsetd {

// The program that started this one and watches over it, if the setting `supervised` and the
// environment specify one: systemd by NOTIFY_SOCKET, upstart by UPSTART_JOB.
//
// systemd's protocol is one datagram for each message (sd_notify(3)). libsystemd has it too, but
// would bring five other libraries into the process.
class Supervisor {
 public:
  explicit Supervisor(Supervision setting);

  // Whether a supervisor exists. The server then stays in the foreground, whatever `daemonize` is.
  bool Exists() const { return kind_ != Kind::kNone; }

  // Returns "systemd" or "upstart", or "no" without a supervisor.
  std::string_view Name() const;

  // Whether the setting specifies a supervisor that the environment does not show.
  bool IsMissing() const { return missing_; }

  // Each notifies the supervisor of a change of state. Upstart is notified of readiness only, by
  // SIGSTOP ("expect stop").
  void ReportReady();
  void ReportStopping();

 private:
  enum class Kind { kNone, kUpstart, kSystemd };

  Kind kind_ = Kind::kNone;
  bool missing_ = false;
};

}  // namespace zsetd
