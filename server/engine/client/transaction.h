#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/engine/client/owned_args.h"

namespace zsetd {

struct Command;
struct WatchedKey;

// A request that MULTI queued until EXEC.
struct QueuedCommand {
  const Command* command;
  OwnedArgs argv;
  uint32_t flags;  // Command::request_flags when it was queued
};

// The open transaction of a client, and its watched keys.
class Transaction {
 public:
  bool open = false;
  bool broken = false;           // a request was refused while queueing
  bool touched = false;          // a watched key has changed
  bool may_take_memory = false;  // a request in the queue may
  bool may_write = false;        // the same
  bool running = false;          // EXEC has begun to run the queue
  size_t next = 0;               // of the queue to be run
  std::vector<QueuedCommand> queue;
  size_t queue_bytes = 0;  // allocated for the arguments in the queue

  const std::vector<const WatchedKey*>& watched() const { return watched_; }
  size_t watch_bytes() const { return watch_bytes_; }

 private:
  friend class Watches;  // keeps them consistent with its own table
  std::vector<const WatchedKey*> watched_;
  size_t watch_bytes_ = 0;  // allocated for these keys, without the vector
};

}  // namespace zsetd
