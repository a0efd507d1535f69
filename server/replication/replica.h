#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/util/time.h"
#include "server/engine/client/client.h"
#include "server/engine/client/output_source.h"
#include "server/engine/services/replica_registry.h"
#include "server/persistence/file/file.h"
#include "server/replication/backlog.h"
#include "server/replication/snapshot_pipe.h"

namespace zsetd {

// A replica of this server, and the output for it:
//
//   kWaiting ──► kPreparation ──► kSnapshot ──► kAcknowledgement ──► kStream
//      │          of a file                                             ↑
//      └───────── what it lacks is in the backlog ──────────────────────┘
//
// A replica that finds the end of the snapshot by a mark acknowledges the snapshot before the
// stream starts. Otherwise it could not separate the two.
class Replica : public OutputSource {
 public:
  enum class State { kWaiting, kPreparation, kSnapshot, kAcknowledgement, kStream, kDone };

  // The client and the backlog outlive this.
  Replica(Client& client, ReplicaOptions options, const Backlog& backlog);
  Replica(const Replica&) = delete;
  ~Replica() override;

  Client& client() { return client_; }
  const Client& client() const { return client_; }
  const ReplicaOptions& options() const { return options_; }
  ReplicaOptions& options() { return options_; }
  State state() const { return state_; }

  // Marks a replica that uses the protocol before PSYNC. It expects no line before the snapshot and
  // sends no acknowledgments.
  void set_is_old() { is_old_ = true; }
  bool is_old() const { return is_old_; }

  // Queues bytes of the protocol, which are sent before any other output.
  void Enqueue(std::string_view bytes) { queued_ += bytes; }

  // Starts the stream at this offset.
  void StartStream(int64_t offset);

  // Announces a snapshot of the data at this offset. The stream after it follows.
  void AwaitSnapshot(int64_t offset);

  // Start sending the snapshot: from a pipe with an end mark, or from a file.
  void StartSnapshot(std::shared_ptr<SnapshotPipe> pipe, std::string mark);
  void StartFile(std::unique_ptr<ReadableFile> file);

  // Whether the snapshot was sent completely, or none was needed.
  bool IsOnline() const { return state_ == State::kAcknowledgement || state_ == State::kStream; }

  // Whether a snapshot file is being sent.
  bool IsSentFile() const { return file_ != nullptr; }

  // Notes that the replica has acknowledged the stream up to `offset`, and in its log up to
  // `log_offset`.
  void Acknowledge(int64_t offset, int64_t log_offset, Millis now);
  int64_t acknowledged() const { return acknowledged_; }
  int64_t logged() const { return logged_; }
  Millis acknowledged_at() const { return acknowledged_at_; }
  void set_acknowledged_at(Millis at) { acknowledged_at_ = at; }

  // Whether the replica has acknowledged the stream up to this offset. For an old replica: whether
  // the whole stream was sent.
  bool HasAll(int64_t offset) const;

  // The time since the last acknowledgment. Before the first one, the time since Note() first saw
  // the replica online.
  Millis SilentFor(Millis now) const;

  // Notes activity since the last call. took_at() is the last noted time at which the network
  // accepted output. heard_at() is the last noted time at which the replica sent bytes.
  void Note(Millis now);
  Millis took_at() const { return took_at_; }
  Millis heard_at() const { return heard_at_; }

  // The offset of the next byte of the stream to send; whether the replica needs the stream from
  // there; whether there is output to send now.
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
  std::string queued_;
  std::shared_ptr<SnapshotPipe> pipe_;  // null: no snapshot, or it was sent
  std::unique_ptr<ReadableFile> file_;  // null: no snapshot from a file, or it was sent
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
