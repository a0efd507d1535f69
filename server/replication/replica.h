#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/util/time.h"
#include "server/engine/client/client.h"
#include "server/engine/client/output_source.h"
#include "server/engine/replication.h"
#include "server/persistence/file/file.h"
#include "server/replication/backlog.h"
#include "server/replication/snapshot_pipe.h"

namespace zsetd {

// A client that follows this server, and what it is sent next:
//
//   kWaiting ──► kPreparation ──► kSnapshot ──► kAcknowledgement ──► kStream
//      │          of a file                                             ↑
//      └───────── what it lacks is in the backlog ──────────────────────┘
//
// A replica that finds the end of the snapshot by a mark acknowledges it before the stream follows,
// because it could not separate them.
class Replica : public OutputSource {
 public:
  enum class State { kWaiting, kPreparation, kSnapshot, kAcknowledgement, kStream, kDone };

  // Both outlive it.
  Replica(Client& client, ReplicaOptions options, const Backlog& backlog);
  Replica(const Replica&) = delete;
  ~Replica() override;

  Client& client() { return client_; }
  const Client& client() const { return client_; }
  const ReplicaOptions& options() const { return options_; }
  ReplicaOptions& options() { return options_; }
  State state() const { return state_; }

  // It speaks the protocol before PSYNC: nothing precedes the snapshot, and it acknowledges
  // nothing.
  void set_is_old() { is_old_ = true; }
  bool is_old() const { return is_old_; }

  // Sends this first: words of the protocol.
  void Say(std::string_view bytes) { said_ += bytes; }

  // The stream follows from that offset on.
  void StartStream(int64_t offset);

  // Sends a snapshot of the data at that offset, and then the stream after it.
  void AwaitSnapshot(int64_t offset);

  // It follows: with an end mark, or from a file.
  void StartSnapshot(std::shared_ptr<SnapshotPipe> pipe, std::string mark);
  void StartFile(std::unique_ptr<ReadableFile> file);

  // Whether it has received the snapshot, if it needed one.
  bool IsOnline() const { return state_ == State::kAcknowledgement || state_ == State::kStream; }

  // Whether it is sent a snapshot that is complete on disk.
  bool IsSentFile() const { return file_ != nullptr; }

  // It has acknowledged all until there.
  void Acknowledge(int64_t offset, int64_t log_offset, Millis now);
  int64_t acknowledged() const { return acknowledged_; }
  int64_t logged() const { return logged_; }
  Millis acknowledged_at() const { return acknowledged_at_; }
  void set_acknowledged_at(Millis at) { acknowledged_at_ = at; }

  // Whether it has acknowledged all until there; or, if it acknowledges nothing, was sent all.
  bool HasAll(int64_t offset) const;

  // For how long it has acknowledged nothing. At first this counts from when it was noted as
  // online.
  Millis SilentFor(Millis now) const;

  // Notes changes since the last call. `took_at()` is when the network took something from it last,
  // and `heard_at()` when the replica sent something last, as far as that has been noted.
  void Note(Millis now);
  Millis took_at() const { return took_at_; }
  Millis heard_at() const { return heard_at_; }

  // The offset of the next byte of the stream that it is sent, if it is sent any. Whether there is
  // more for it.
  int64_t next_offset() const { return next_; }
  bool NeedsStream() const { return state_ != State::kWaiting && state_ != State::kDone; }
  bool HasMore() const override;

  void Fill(OutputBuffer& out) override;
  size_t BytesKept() const override;

 private:
  void FillFromPipe(OutputBuffer& out);
  void FillFromFile(OutputBuffer& out);
  void EndSnapshot(State next);

  Client& client_;
  ReplicaOptions options_;
  const Backlog& backlog_;
  State state_ = State::kWaiting;
  bool is_old_ = false;
  std::string said_;
  std::shared_ptr<SnapshotPipe> pipe_;  // null: no snapshot, or it was read
  std::unique_ptr<ReadableFile> file_;  // the same
  size_t reader_ = 0;
  std::string mark_;
  int64_t next_ = 0;
  int64_t acknowledged_ = 0;
  int64_t logged_ = 0;
  Millis acknowledged_at_{0};
  bool is_noted_online_ = false;
  uint64_t taken_ = 0;  // bytes, when that was noted
  Millis took_at_{0};
  uint64_t received_ = 0;  // bytes, when that was noted
  Millis heard_at_{0};
};

}  // namespace zsetd
