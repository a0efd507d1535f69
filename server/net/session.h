#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "protocol/resp/request_parser.h"
#include "server/engine/client/client.h"
#include "server/engine/port/request_port.h"
#include "server/engine/support/log.h"
#include "server/net/held_replies.h"
#include "server/net/sender.h"
#include "server/net/socket/poller.h"
#include "server/net/socket/socket.h"
#include "server/net/socket/stream_socket.h"
#include "server/net/socket/tls.h"

namespace zsetd {

class IoThread;

// One connection: reads requests, passes them to the engine, and sends the client's output. It
// takes part in its poller's rounds:
//
//   Receive    socket -> parser
//   LookAhead  parses
//   Announce   traffic -> client, requests -> prefetching
//   Serve      parser -> engine -> client.output.buffer
//   Collect    client.output.buffer -> sender, if the replies may leave
//   Send       sender -> socket
//
// With several threads, AnnounceShared and ServeShared do the three middle steps in a shared turn,
// if all requests only read and nothing special happens. The rest is left to these three steps.
//
// Receive, LookAhead and Send access the session only, neither the engine nor the client. A broken
// connection, and one whose output has ended, is closed when the engine is used next. So another
// thread that is in the engine may use the descriptor, but nothing else of the session.
//
// All replies of a round are sent in one write, unless they are long. While many bytes are unsent,
// the session neither reads nor runs requests, so a client that does not read uses bounded memory.
// TLS decrypts the bytes before the parser reads them, and encrypts the output before it is sent.
class Session : public Polled, public std::enable_shared_from_this<Session> {
 public:
  // The connection belongs to `thread`, which need not be the calling one. `tls` is null for a
  // connection without TLS. `on_end` is called once.
  Session(StreamSocket socket, std::unique_ptr<Tls> tls, uint64_t client_id, Millis now,
          IoThread& thread, const Log& log, HeldReplies& held_replies,
          std::function<void(Session&)> on_end);

  // Attaches the client to the engine through the port of the calling thread.
  void Start(RequestPort& port);

  IoThread& thread() { return thread_; }
  uint64_t client_id() const { return client_.id; }
  bool IsReplica() const { return client_.IsReplica(); }

  // Includes the session in the next round of its thread.
  void Wake() { poller_.Wake(*this); }

  // Must be called at the end of the time for the TLS handshake: closes the session unless the
  // handshake is complete.
  void EndHandshake();

  // Makes the session's thread run the requests that have arrived, send the replies and close.
  void Finish();

  // Makes the session's thread close it without sending the unsent bytes.
  void Abandon();

 private:
  std::shared_ptr<Polled> Self() override { return shared_from_this(); }
  void Receive() override;
  Requests LookAhead() override;
  size_t AnnounceShared(size_t may_prefetch) override;
  bool ServeShared() override;
  void Announce() override;
  void Serve() override;
  void Collect() override;
  void Send() override;

  bool MayRead() const;
  bool HasLeftUnread() const;
  std::span<char> Space();
  Socket::Result Read();
  size_t Arrived(size_t count);
  size_t Decrypted();
  bool DecryptMore();
  void OnArrival(size_t count);
  void ReportTraffic();
  void Prefetch();
  void ShrinkBuffers();
  void ShrinkOutput();
  void ApplyLimits();
  void CloseForQueryBuffer();

  // Runs the requests that have arrived. Returns false if the session must not read more: many
  // bytes are unsent, many bytes are unread after a command that waits, or a long reply has not
  // ended.
  bool RunUntilHeld();
  // Runs them in a shared turn. Returns whether that was all.
  bool RunShared();
  bool MayServeShared() const;

  bool IsClogged();
  void ContinueReply();
  void PrefetchBatch(std::span<const Args> requests);
  void RunRequest();
  void RefuseProtocol();

  void Flush();
  void TakeOutput();
  void AnnounceReplies();
  void SendTaken();
  void AwaitNext();
  void StartFinishing();
  void OnWake();
  void DropBuffers();
  void CloseIfStalled();
  void CloseIfDone();
  void CloseSoon();
  void Close();

  // Logs the event, the client's address and the reason, if there is one.
  void Report(LogLevel level, std::string_view event, std::string_view reason = {}) const;

  std::unique_ptr<Tls> tls_;
  IoThread& thread_;
  RequestPort& port_;  // the thread's, as the next
  Poller& poller_;
  const Log& log_;
  HeldReplies& held_replies_;
  std::function<void(Session&)> on_end_;
  Client client_;
  Socket socket_;
  RequestParser parser_;
  NetworkCounters& counters_;
  Sender sender_;
  size_t reported_unsent_ = 0;          // Traffic::unsent_bytes, in the last report
  uint64_t received_ = 0;               // bytes that are not reported yet
  bool prefetched_ = false;             // the first requests of this round are prefetched
  bool prefetched_early_ = false;       // in a shared turn, for a turn alone
  bool may_share_ = false;              // the requests of this round may run in a shared turn
  FoundCommands found_;                 // of these requests
  std::optional<size_t> left_to_read_;  // bytes; set by Finish()
  bool held_ = false;                   // the replies wait for the log
  bool waits_ = false;                  // as Client::IsWaiting() when the engine was used last
  bool saves_memory_ = false;           // memory was short when the engine was used last
  bool must_close_ = false;             // when the engine is used next
  bool has_finished_ = false;           // all output is sent; other bytes may still arrive
  bool asked_to_finish_ = false;        // set by other threads, in the engine
  bool abandoned_ = false;              // set by other threads, in the engine
  bool paused_ = false;                 // neither reads nor runs requests at the moment
  bool ended_ = false;                  // the client sends nothing more
  bool finishing_ = false;              // runs no more requests, and closes when everything is sent
  bool closed_ = false;
};

}  // namespace zsetd
