#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/util/time.h"
#include "protocol/resp/args.h"
#include "server/engine/client/blocked_command.h"
#include "server/engine/client/caller.h"
#include "server/engine/client/channel_kind.h"
#include "server/engine/client/client_connection.h"
#include "server/engine/client/client_output.h"
#include "server/engine/client/client_weights.h"
#include "server/engine/client/mailbox.h"
#include "server/engine/client/owned_args.h"
#include "server/engine/client/tracking_mode.h"

namespace zsetd {

// A connected caller as the engine knows it: no socket, only its state and its output. Only its own
// command and its mailbox write to the output.
class Client : public Caller {
 public:
  Client(uint64_t client_id, std::string its_address, std::string its_local_address, Millis now,
         std::function<void()> wake)
      : Caller(client_id, std::move(its_address), std::move(its_local_address), this),
        connection{.connected_at = now, .last_active = now, .bytes = sizeof(Client)},
        mailbox(*this, std::move(wake)) {}

  // Records that its memory may have changed. Code that changes it outside the client's own command
  // must call it.
  void NoteMemory() {
    if (weights_ != nullptr) weights_->Note(*this);
  }

  // Records that a message was written to its output. The client may have to be closed.
  void NoteMessage() {
    NoteMemory();
    if (limiter_ != nullptr) limiter_->OnMessage(*this);
  }

  // Frees what a client does not need whose connection closes without sending anything more.
  void DropBuffers();

  // Resets what the client has set for itself, except the name of its library (RESET).
  void ResetState();

  // Whether a command of it waits: for keys, for the end of a pause, for the end of the server, or
  // in a script that is suspended. No further request is run.
  bool IsWaiting() const {
    return blocked || !postponed_request.empty() || suspended || awaits_shutdown;
  }

  bool ReplyInProgress() const { return executing || suspended || output.long_reply != nullptr; }

  // Whether it has been quiet for some seconds and still has buffers of which most is unused, as
  // its last requests and replies have left them.
  bool HoldsIdleBuffers(Millis now) const;

  // Its subscriptions; and the memory allocated for them.
  using Names = std::set<std::string, std::less<>>;
  const Names& listens_to(ChannelKind kind) const { return listens_to_[static_cast<size_t>(kind)]; }
  size_t listening_bytes() const { return listening_bytes_; }
  bool IsSubscriber() const { return listening_bytes_ > 0; }
  bool IsReplica() const { return output.source != nullptr; }

  bool monitors() const { return monitors_; }  // receives every command
  const TrackingMode& tracking() const { return tracking_; }
  size_t weight() const { return weight_.bytes; }  // its memory, when it was last weighed

  ClientConnection connection;
  ClientOutput output{replies};
  Mailbox mailbox;

  std::string lib_name;  // CLIENT SETINFO, as the next
  std::string lib_version;
  bool no_evict = false;         // CLIENT NO-EVICT
  bool executing = false;        // its own command is running
  bool awaits_shutdown = false;  // its command is a SHUTDOWN that waits (Shutdown)
  uint64_t commands_run = 0;
  std::string_view last_command = "NULL";  // a row's name
  std::optional<BlockedCommand> blocked;
  OwnedArgs postponed_request;  // waits for the end of a pause, or in OverdueRequests

 private:
  // Only these classes change the fields below, together with their own tables.
  friend class Channels;
  std::array<Names, kChannelKinds> listens_to_;
  size_t listening_bytes_ = 0;

  friend class Monitors;
  bool monitors_ = false;

  friend class Tracking;
  TrackingMode tracking_;

  friend class ClientWeights;
  ClientWeights::Entry weight_;
  ClientWeights* weights_ = nullptr;  // set as long as the client is attached

  friend class Clients;
  OutputLimiter* limiter_ = nullptr;  // set as long as the client is attached

  friend class ClientPause;
  uint64_t postponed_at_ = 0;  // its place in the order of postponed clients; 0: none
};

template <class Write>
void Mailbox::Push(Write write) {
  if (client_.connection.close_now) return;
  const bool waits = client_.ReplyInProgress();
  ClientOutput& output = client_.output;
  OutputBuffer& buffer = waits ? output.pending_pushes : output.buffer;
  const size_t before = buffer.size();
  ReplyWriter writer(buffer);
  writer.set_protocol(client_.reply.protocol());
  write(writer);
  output.pushed_bytes += buffer.size() - before;
  if (!waits) Wake();
  client_.NoteMessage();
}

}  // namespace zsetd
