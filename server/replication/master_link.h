// The replica's side of the replication protocol: what a replica sends to its master, and what it
// makes of the bytes that come back.
//
//   PING ──► AUTH ──► REPLCONF ... ──► PSYNC id offset ──┬─ +CONTINUE ──────────────► stream
//                                                        └─ +FULLRESYNC ─► snapshot ─► stream
//
// Bytes in, bytes out: there is neither a socket nor a clock here. Input may be split anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/resp/output_buffer.h"

namespace zsetd {

// A place in the history of a master's changes: the history's id, 40 characters, and how many bytes
// of its stream come before the place.
struct ReplicationPosition {
  std::string id;
  int64_t offset = 0;

  friend bool operator==(const ReplicationPosition&, const ReplicationPosition&) = default;
};

// How a replica introduces itself.
struct LinkOptions {
  std::string user;  // empty: AUTH with the password alone
  std::string password;
  int64_t port = 0;                               // at which the replica is reached
  std::string address;                            // the same; empty: as the master sees it
  std::string version;                            // of this server
  std::optional<ReplicationPosition> continuing;  // what the replica has; none: nothing of use
  bool takes_over = false;  // the other side is to become the master, where the replica is
};

class MasterLink {
 public:
  // Learns what the master sends, in the order in which it is sent. The calls are made by
  // Receive(), and may not lead to another call of the link.
  class Listener {
   public:
    virtual ~Listener() = default;

    // The master is going to send a snapshot of this position; or of an unknown one, if it is too
    // old to have positions.
    virtual void OnFullSync(const std::optional<ReplicationPosition>& position) = 0;

    // The snapshot: its size if that is known before, its bytes, its end.
    virtual void OnSnapshot(std::optional<uint64_t> bytes) = 0;
    virtual void OnSnapshotBytes(std::string_view bytes) = 0;
    virtual void OnSnapshotEnd() = 0;

    // The stream continues at the replica's offset; the history has a new ID, unless it is empty.
    virtual void OnContinue(std::string_view new_id) = 0;

    // Bytes of the stream.
    virtual void OnStream(std::string_view bytes) = 0;
  };

  enum class State {
    kIdle,      // before Start()
    kGreeting,  // PING
    kIntroduction,
    kSync,         // PSYNC or SYNC was sent
    kPreparation,  // the master prepares the snapshot
    kSnapshot,
    kStream,
    kFailed,
  };

  // The listener outlives it.
  MasterLink(LinkOptions options, Listener& listener);
  MasterLink(const MasterLink&) = delete;

  // The connection is open. Adds the bytes to send to `out`.
  void Start(OutputBuffer& out);

  // Processes bytes from the master. After a failure they are ignored. O(bytes); memory is bounded,
  // whatever arrives.
  void Receive(std::string_view bytes, OutputBuffer& out);

  State state() const { return state_; }

  // Why it has failed, for the log; the connection is to be closed then.
  const std::string& failure() const { return failure_; }

  // Whether the other side has become the master, or was it already; whether it has refused to.
  bool IsTakeoverDone() const { return is_takeover_done_; }
  bool IsTakeoverRefused() const { return is_takeover_refused_; }

  // Whether the master is too old for PSYNC: it must not be sent REPLCONF ACK.
  bool IsOld() const { return is_old_; }

 private:
  enum class Question { kAuth, kOptional, kPort };

  struct Asked {
    Question question;
    std::string_view what;  // for the log
  };

  size_t TakeLine(std::string_view bytes);
  void OnLine(std::string_view line, OutputBuffer& out);
  void OnGreeted(std::string_view line, OutputBuffer& out);
  void Introduce(OutputBuffer& out);
  void OnIntroduced(std::string_view line, OutputBuffer& out);
  void AskForSync(OutputBuffer& out);
  void OnSyncReply(std::string_view line, OutputBuffer& out);
  void OnFullResync(std::string_view arguments);
  void OnContinued(std::string_view arguments);
  void OnSnapshotHeader(std::string_view line);
  size_t TakeSnapshot(std::string_view bytes);
  size_t TakeUntilMark(std::string_view bytes);
  void EndSnapshot();
  void Fail(std::string reason);

  const LinkOptions options_;
  Listener& listener_;
  State state_ = State::kIdle;
  std::string line_;  // the part of a line that has arrived
  std::deque<Asked> asked_;
  bool is_old_ = false;
  bool is_takeover_done_ = false;
  bool is_takeover_refused_ = false;
  std::string failure_;
  uint64_t snapshot_left_ = 0;  // bytes of it that are still to come, if that is known
  std::string mark_;            // that ends it, otherwise
  std::string held_;            // the last bytes that came: the mark may have begun in them
};

}  // namespace zsetd
