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
  // Starts the load, which begins in a turn. The load's thread calls `on_request` when it wants a
  // turn; it may be null. If no thread can be created, done() is true from the start, and status()
  // returns the reason.
  using Load = std::function<absl::Status(LoadTurns&)>;
  LoadTurns(Load load, std::function<void()> on_request);
  LoadTurns(const LoadTurns&) = delete;

  // Cancels the load, and waits for its end.
  ~LoadTurns();

  // --- For the engine's thread. ---

  bool WantsTurn() const;

  // Returns when the turn has ended, or immediately if none is wanted.
  void GiveTurn();

  // Waits until a turn is wanted or the load has ended, but at most for `most`.
  void Await(std::chrono::milliseconds most) const;

  bool done() const;
  absl::Status status() const;  // valid when done()

  // The progress, in bytes of files.
  uint64_t loaded_bytes() const { return before_bytes_ + file_bytes_; }
  uint64_t total_bytes() const { return total_bytes_; }

  // --- For the load. ---

  // End() ends the turn; Begin() waits for the next one. Begin() returns false if the load is
  // canceled.
  void End();
  bool Begin();

  // Must be called often in a turn. If the turn has taken long enough, ends it and waits for the
  // next one. Returns false if the load is canceled.
  bool GoOn();

  // Set when the load is canceled.
  const std::atomic<bool>& abandoned() const { return abandoned_; }

  // Report progress. Announce(): a file of this size will be loaded. set_file_bytes(): this part of
  // the present file is loaded. EndFile(): the present file, of this size, is loaded completely.
  void Announce(uint64_t bytes) { total_bytes_ += bytes; }
  void set_file_bytes(uint64_t bytes) { file_bytes_ = bytes; }
  void EndFile(uint64_t bytes) {
    file_bytes_ = 0;
    before_bytes_ += bytes;
  }

 private:
  enum class Turn { kNone, kWanted, kGiven };

  void Finish(absl::Status status);

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
