#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "core/util/time.h"

namespace zsetd {

// A server program of its own for one test: started on a free port with nothing in it and nothing
// kept. When this goes it is asked to end, and a GoogleTest failure tells what it said if it does
// not, or not well; so what a sanitizer finds in it is seen.
class ServerProcess {
 public:
  // `program` is a path, or a name to look for in PATH: zsetd or redis-server. Waits until it
  // answers.
  explicit ServerProcess(const std::string& program);
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess();

  // Whether it started; if not, a GoogleTest failure has been reported.
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

// Whether the program is redis-server, by its name.
bool IsRedis(const std::string& program);

}  // namespace zsetd
