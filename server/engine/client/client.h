#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/util/time.h"
#include "protocol/resp/args.h"
#include "protocol/resp/output_buffer.h"
#include "protocol/resp/reply_writer.h"
#include "server/engine/client/blocked_command.h"
#include "server/engine/client/channel_kind.h"
#include "server/engine/client/client_weights.h"
#include "server/engine/client/long_reply.h"
#include "server/engine/client/output_watch.h"
#include "server/engine/client/owned_args.h"
#include "server/engine/client/tracking_mode.h"

namespace zsetd {

struct Command;
class User;
struct WatchedKey;

// A request put aside by MULTI until EXEC.
struct QueuedCommand {
  const Command* command;
  OwnedArgs argv;
};

// What a client has open between MULTI and EXEC, and what it watches before.
struct Transaction {
  bool open = false;
  bool broken = false;   // a request was refused while queueing
  bool touched = false;  // a watched key has changed
  std::vector<QueuedCommand> queue;
  std::vector<const WatchedKey*> watched;  // changed by Watches alone, as the next
  size_t watch_bytes = 0;                  // allocated for these keys, the vector left output
  size_t queue_bytes = 0;                  // the same for the words in the queue
  bool may_take_memory = false;            // a request in the queue may
  bool may_write = false;                  // the same
  bool running = false;                    // EXEC has begun to run the queue
  size_t next = 0;                         // of the queue to be run
};

// One client as the engine knows it: no socket, only its state and its output. Code that writes to
// `output` outside of the client's own command calls Wake().
class Client {
 public:
  enum class ReplyMode { kOn, kOff, kSkipNext, kSkipThis };  // CLIENT REPLY

  Client(uint64_t client_id, std::string peer_address, std::string own_address, Millis now,
         std::function<void()> wake)
      : id(client_id),
        address(std::move(peer_address)),
        local_address(std::move(own_address)),
        connected_at(now),
        last_active(now),
        reply(output),
        connection_bytes(sizeof(Client)),
        wake_(std::move(wake)) {}
  Client(const Client&) = delete;

  // Sends the client an unsolicited message, such as one of a channel it is subscribed to. While
  // the client's own command runs, or is being replied to, the message waits for that reply's end.
  // `write` gets a ReplyWriter.
  template <class Write>
  void Push(Write write);

  // Notifies the connection that there is something to send, that it is to close, or that its
  // buffers may be larger than they need be.
  void Wake() { wake_(); }

  // Notes that its memory may have changed. To be called by code that changes it from outside the
  // client's own command.
  void NoteMemory() {
    if (weights != nullptr) weights->Note(*this);
  }

  // Frees what is of no use to a client whose connection is to close without a further word.
  void DropBuffers();

  // Takes all that the client said of itself back, but for its library, which stays the same
  // (RESET).
  void ResetState();

  // Whether a command of it waits, for keys, for the end of a pause or in a script that is
  // suspended; no further request is run.
  bool IsWaiting() const { return blocked || !postponed_request.empty() || suspended; }

  // Its subscriptions; Channels keeps them consistent with its own table.
  using Names = std::set<std::string, std::less<>>;
  Names& listens_to(ChannelKind kind) { return listens_to_[static_cast<size_t>(kind)]; }
  const Names& listens_to(ChannelKind kind) const { return listens_to_[static_cast<size_t>(kind)]; }
  bool IsSubscriber() const;

  bool IsOnUnixSocket() const { return address == local_address; }

  // Whether it is on this machine.
  bool IsLocal() const {
    return IsOnUnixSocket() || address.starts_with("127.0.0.1:") || address.starts_with("[::1]:");
  }

  // Redis's replies go to 16 KB that each client has first, and only what is beyond these counts as
  // unread (client-output-buffer-limit). So does what it is sent here.
  static constexpr size_t kUncountedOutput = 16u << 10;
  static size_t CountedOutput(size_t unsent_bytes) {
    return unsent_bytes - std::min(unsent_bytes, kUncountedOutput);
  }

  size_t UnsentBytes() const { return SendableBytes() + pending_pushes.size(); }

  // Of these the bytes of messages, or more if there are replies between them.
  size_t UnsentPushBytes() const { return std::min(pushed_bytes, UnsentBytes()); }
  size_t SendableBytes() const {
    return output.size() + sending_bytes;
  }  // waiting for nothing else

  // The memory that a reply keeps of which the rest is written later.
  size_t LongReplyBytes() const { return long_reply ? long_reply->BytesUsed() : 0; }

  // Whether it has been quiet for some seconds and still has buffers of which most is of no use, as
  // its last requests and replies have left them.
  bool HoldsIdleBuffers(Millis now) const;

  // Whether what is replied now is sent.
  bool RepliesEnabled() const {
    return reply_mode == ReplyMode::kOn || reply_mode == ReplyMode::kSkipNext;
  }

  bool ReplyInProgress() const { return executing || suspended || long_reply != nullptr; }

  const uint64_t id;
  const std::string address;        // "127.0.0.1:50000"
  const std::string local_address;  // "127.0.0.1:6379"
  const Millis connected_at;
  Millis last_active;
  uint64_t commands_run = 0;
  uint64_t input_total = 0;   // bytes, ever
  uint64_t output_total = 0;  // bytes that the network has taken, ever
  int descriptor = -1;        // of its socket, for CLIENT LIST

  OutputBuffer output;            // what it is to be sent, and the network has not been given yet
  size_t sending_bytes = 0;       // the network has been given these, and not taken them yet
  size_t sending_capacity = 0;    // of the buffer that holds these
  size_t pushed_bytes = 0;        // of messages, since all had been sent
  uint64_t propagated_until = 0;  // the journal's position at the end of its last unit that has one
  uint64_t read_until = 0;  // and where what it has read was changed, while replies wait for that
  OutputWatch output_watch;
  OutputWatch push_watch;
  ReplyWriter reply;
  OutputBuffer pending_pushes;            // messages that wait for the running command's reply
  bool executing = false;                 // its own command is running
  bool suspended = false;                 // its command is a script that is suspended
  bool in_script = false;                 // it stands for a script, whose commands these are
  std::unique_ptr<LongReply> long_reply;  // while set, no further request of it is run

  bool close_after_reply = false;  // send what is in `output`, then close
  bool close_now = false;          // close without sending

  int database = 0;
  const User* user = nullptr;  // set as long as the client is attached
  bool authenticated = true;   // it has been let in; changed by AccessControl alone, as is its user
  bool monitors = false;       // receives every command; changed only by Monitors
  bool no_evict = false;
  bool no_touch = false;
  ReplyMode reply_mode = ReplyMode::kOn;
  std::string name;
  std::string lib_name;
  std::string lib_version;
  std::string_view last_command = "NULL";  // a row's name
  size_t input_bytes = 0;                  // received and not yet executed, at its last activity
  size_t input_capacity = 0;               // all that its input took then
  size_t connection_bytes;                 // of its connection: what does not change with use
  ClientWeights::Entry weight;             // changed by ClientWeights alone
  ClientWeights* weights = nullptr;        // set as long as the client is attached

  TrackingMode tracking;  // changed by Tracking alone, but for the exceptions
  Transaction transaction;
  std::optional<BlockedCommand> blocked;
  OwnedArgs postponed_request;  // a request that waits for the end of a pause
  size_t listening_bytes = 0;   // allocated for what it listens to; changed by Channels alone

 private:
  std::array<Names, kChannelKinds> listens_to_;
  std::function<void()> wake_;
};

template <class Write>
void Client::Push(Write write) {
  OutputBuffer& buffer = ReplyInProgress() ? pending_pushes : output;
  const size_t before = buffer.size();
  ReplyWriter writer(buffer);
  writer.set_protocol(reply.protocol());
  write(writer);
  pushed_bytes += buffer.size() - before;
  NoteMemory();
  if (!ReplyInProgress()) Wake();
}

}  // namespace zsetd
