#pragma once

#include <string_view>

namespace zsetd {

// The program that started this one and watches over it, if the setting `supervised` and the
// environment name one: systemd by NOTIFY_SOCKET, upstart by UPSTART_JOB.
//
// systemd's protocol is one datagram for each message (sd_notify(3)). libsystemd has it too, but
// would bring five other libraries into the process.
class Supervisor {
 public:
  // `setting`: no, upstart, systemd, auto.
  explicit Supervisor(std::string_view setting);

  // Whether there is one. It keeps the server in the foreground, whatever `daemonize` says.
  bool IsThere() const { return kind_ != Kind::kNone; }

  // Whether the setting asks for one by name that the environment does not have.
  bool IsMissing() const { return missing_; }

  // Each notifies the supervisor of a change of state. Upstart only learns of readiness, by SIGSTOP
  // ("expect stop").
  void ReportReady();
  void ReportStopping();

 private:
  enum class Kind { kNone, kUpstart, kSystemd };

  Kind kind_ = Kind::kNone;
  bool missing_ = false;
};

}  // namespace zsetd
