#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "absl/status/status.h"

namespace zsetd {

// Runs a load on a thread of its own, in turns with the engine's thread.
//
//   engine's thread   | requests |  waits  | requests |  waits  | requests ...
//   load's thread     | reads, builds      | waits    | applies | reads ...
//                                  ^ a turn: it has the engine
//
// The load touches the engine only in a turn, while the engine's thread waits in GiveTurn(), some
// milliseconds at a time. Reading files, and building data that no request can reach yet, needs no
// turn. So no part of the engine is used by two threads at the same time.
class LoadTurns {
 public:
  // Begins in a turn. `on_request` is called by the load's thread when it wants one; or null.
  using Load = std::function<absl::Status(LoadTurns&)>;
  LoadTurns(Load load, std::function<void()> on_request);
  LoadTurns(const LoadTurns&) = delete;

  // Cancels the load, and waits for its end.
  ~LoadTurns();

  // --- For the engine's thread. ---

  bool WantsTurn() const;

  // Returns when the turn has ended, or immediately if none is wanted.
  void GiveTurn();

  // Waits until a turn is wanted or the load has ended, but not for longer than that.
  void Await(std::chrono::milliseconds most) const;

  bool done() const;
  absl::Status status() const;  // when it is done

  // How far it is, in bytes of files.
  uint64_t loaded_bytes() const { return before_bytes_ + file_bytes_; }
  uint64_t total_bytes() const { return total_bytes_; }

  // --- For the load. ---

  // Ends the turn, and begins another. The latter returns false if the load is to give up.
  void End();
  bool Begin();

  // In a turn, to be called often: ends it and begins another if it has taken long enough. False if
  // the load is to give up.
  bool GoOn();

  // Set when the load is to give up.
  const std::atomic<bool>& abandoned() const { return abandoned_; }

  // A file of this size is to be loaded; this part of the present file has been loaded; the present
  // file, of this size, has been loaded completely.
  void Announce(uint64_t bytes) { total_bytes_ += bytes; }
  void set_file_bytes(uint64_t bytes) { file_bytes_ = bytes; }
  void EndFile(uint64_t bytes) {
    file_bytes_ = 0;
    before_bytes_ += bytes;
  }

 private:
  enum class Turn { kNone, kWanted, kGiven };

  const std::function<void()> on_request_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  Turn turn_ = Turn::kNone;
  std::chrono::steady_clock::time_point turn_ends_;
  bool done_ = false;
  absl::Status status_;
  std::atomic<bool> abandoned_ = false;
  std::atomic<uint64_t> total_bytes_ = 0;
  std::atomic<uint64_t> before_bytes_ = 0;
  std::atomic<uint64_t> file_bytes_ = 0;
  std::thread thread_;  // last: it uses the others
};

}  // namespace zsetd
