#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/util/time.h"
#include "protocol/resp/args.h"
#include "server/engine/command/command.h"

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

// The last slow commands, as Metrics defines them.
class SlowLog {
 public:
  // Describes a slow command for Add(). It has no id yet.
  static SlowCommand Describe(const Command& command, Args argv, const Caller& caller, Millis now,
                              Micros took);

  // Records a slow command under the next id. Keeps the last `most` commands.
  void Add(SlowCommand slow, size_t most);

  const std::deque<SlowCommand>& commands() const { return commands_; }  // the latest first
  void Reset() { commands_.clear(); }                                    // ids go on

 private:
  std::deque<SlowCommand> commands_;
  uint64_t next_id_ = 0;
};

}  // namespace zsetd
