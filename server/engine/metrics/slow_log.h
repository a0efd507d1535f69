#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/util/time.h"
#include "protocol/resp/args.h"
#include "server/engine/command/command.h"
#include "server/engine/config/settings.h"

namespace zsetd {

class Caller;

// A slow command, as in SLOWLOG GET.
struct SlowCommand {
  uint64_t id = 0;
  Millis at{0};  // when it ended
  Micros took{0};
  std::vector<std::string> argv;  // truncated in number and length
  std::string address;            // of the client
  std::string name;
};

// The last commands that took longer than slowlog-log-slower-than, slowlog-max-len of them at most.
// Other commands cost nothing.
class SlowLog {
 public:
  // Records the command, if it took long enough.
  void MaybeRecord(const Settings& settings, const Command& command, Args argv,
                   const Caller& caller, Millis now, Micros took) {
    const int64_t threshold = settings.slowlog_log_slower_than;
    if (threshold < 0 || took.count() < threshold || command.Has(kSkipSlowlog)) return;
    Record(command, argv, caller, now, took, settings.slowlog_max_len);
  }

  const std::deque<SlowCommand>& commands() const { return commands_; }  // the latest first
  void Reset() { commands_.clear(); }                                    // ids go on

 private:
  void Record(const Command& command, Args argv, const Caller& caller, Millis now, Micros took,
              size_t most);

  std::deque<SlowCommand> commands_;
  uint64_t next_id_ = 0;
};

}  // namespace zsetd
