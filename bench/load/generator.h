#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/load/connection.h"
#include "bench/load/listener.h"
#include "bench/load/options.h"
#include "bench/load/results.h"
#include "bench/load/schedule.h"
#include "bench/load/step.h"

namespace zsetd {

// Clients that send batches of steps until the given number of replies has arrived. A batch is sent
// when it is due and a client is idle. Runs on one thread, which sleeps in epoll.
class Generator {
 public:
  Generator(const Options& options, Step step);
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;
  ~Generator();

  absl::Status Connect();

  // Runs until all replies have arrived. Stops at the first error of the generator or in a reply.
  absl::StatusOr<Results> Run();

 private:
  absl::Status Watch(int descriptor, size_t number);
  absl::Status SendWhatIsDue(const Schedule& schedule);
  absl::Status ReadWhatArrives(const Schedule& schedule);
  absl::Status OnReadable(size_t number);

  const Options options_;
  Step step_;
  const size_t batches_;
  const int epoll_;
  std::vector<Connection> connections_;
  std::vector<Listener> listeners_;  // their numbers follow those of the connections
  std::deque<Connection*> idle_;     // the connection that has been idle longest is first
  size_t sent_batches_ = 0;
  std::string batch_;
  Results results_;
};

}  // namespace zsetd
