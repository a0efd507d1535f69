#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "core/util/time.h"

namespace zsetd {

// A server program for one test, started on a free port with an empty dataset that is not
// persisted. The destructor asks it to end. If the server does not end, or fails, a GoogleTest
// failure prints its output. So a test reports sanitizer findings too.
class ServerProcess {
 public:
  // `program` is a path, or a name to look up in PATH: zsetd or redis-server. Returns when the
  // server listens. `options` are further words of the command line, and `nodes` is the content of
  // its nodes.conf; empty: there is no such file.
  explicit ServerProcess(const std::string& program, const std::vector<std::string>& options = {},
                         const std::string& nodes = {});
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess();

  // Returns whether it started. If not, a GoogleTest failure has been reported.
  bool running() const { return process_ > 0; }
  int port() const { return port_; }

 private:
  bool Listens() const;
  bool WaitUntilItListens();
  std::optional<int> WaitUntilItEnds(Millis patience);
  std::string Log() const;

  const std::string program_;
  const int port_;
  pid_t process_ = -1;
  std::string folder_;
};

// Returns whether the program is redis-server, judged by its name.
bool IsRedis(const std::string& program);

}  // namespace zsetd
