// The replica's side of the replication protocol: creates the requests to the master and parses the
// bytes that the master sends.
//
//   PING ──► AUTH ──► REPLCONF ... ──► PSYNC id offset ──┬─ +CONTINUE ──────────────► stream
//                                                        └─ +FULLRESYNC ─► snapshot ─► stream
//
// Works on bytes only, without a socket or a clock. Input may be split anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/resp/output_buffer.h"

namespace zsetd {

// A place in the history of a master's changes: the history's ID (40 characters) and the number of
// bytes of its stream before the place.
struct ReplicationPosition {
  std::string id;
  int64_t offset = 0;

  friend bool operator==(const ReplicationPosition&, const ReplicationPosition&) = default;
};

// The data that a replica sends to its master at the start of a link.
struct LinkOptions {
  std::string user;  // empty: AUTH with the password alone
  std::string password;
  int64_t port = 0;     // the port at which the replica listens
  std::string address;  // the address of the replica; empty: the peer address
  std::string version;  // the version of this server
  std::optional<ReplicationPosition> continuing;  // the replica's place; nullopt: no usable data
  bool takes_over = false;  // requests the other side to become the master, at this place
};

class MasterLink {
 public:
  // Receives the parsed input in the order of arrival. Receive() makes the calls. They must not
  // call the link.
  class Listener {
   public:
    virtual ~Listener() = default;

    // The master will send a snapshot of this position. nullopt: the master is too old for
    // positions.
    virtual void OnFullSync(const std::optional<ReplicationPosition>& position) = 0;

    // The snapshot: its size if that is known in advance, its bytes, its end.
    virtual void OnSnapshot(std::optional<uint64_t> bytes) = 0;
    virtual void OnSnapshotBytes(std::string_view bytes) = 0;
    virtual void OnSnapshotEnd() = 0;

    // The stream continues at the replica's offset. `new_id` is the new ID of the history; empty:
    // the ID is unchanged.
    virtual void OnContinue(std::string_view new_id) = 0;

    // Bytes of the stream have arrived.
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

  // The listener outlives this.
  MasterLink(LinkOptions options, Listener& listener);
  MasterLink(const MasterLink&) = delete;

  // Must be called when the connection is open. Appends the bytes to send to `out`.
  void Start(OutputBuffer& out);

  // Processes bytes from the master. After a failure they are ignored. O(bytes). Memory use is
  // bounded for any input.
  void Receive(std::string_view bytes, OutputBuffer& out);

  State state() const { return state_; }

  // The reason of a failure, for the log. The caller must close the connection then.
  const std::string& failure() const { return failure_; }

  // Whether the other side has become the master or already was; whether it has refused.
  bool IsTakeoverDone() const { return is_takeover_done_; }
  bool IsTakeoverRefused() const { return is_takeover_refused_; }

  // Whether the master is too old for PSYNC. It must not receive REPLCONF ACK.
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
  std::string line_;  // the received part of a line
  std::deque<Asked> asked_;
  bool is_old_ = false;
  bool is_takeover_done_ = false;
  bool is_takeover_refused_ = false;
  std::string failure_;
  uint64_t snapshot_left_ = 0;  // the number of bytes that have not arrived, if the size is known
  std::string mark_;            // the end mark of the snapshot, if the size is unknown
  std::string held_;            // the last received bytes, which may be the start of the mark
};

}  // namespace zsetd
