#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>

#include "protocol/request_parser.h"
#include "server/engine/client.h"
#include "server/engine/engine.h"
#include "server/net/stream_socket.h"
#include "server/net/tls.h"

namespace zsetd {

// One connection: reads requests, has the engine run them, sends what the client is to be told.
//
//   Read coroutine     socket -> parser -> engine -> client.out -> Flush
//   Write coroutine    sends what the socket would not take at once
//
// All replies to what one read brought go out in one write. The reader stops running requests while
// much is unsent, so that a client that does not read costs bounded memory. With TLS, what is read
// goes through it on its way to the parser, and what is sent on its way from `out`. Kept alive by
// its coroutines; `on_batch` is called after each batch of requests, `on_end` once.
class Session : public std::enable_shared_from_this<Session> {
 public:
  // `tls` is null for a connection in the clear.
  Session(StreamSocket socket, std::unique_ptr<Tls> tls, Engine& engine,
          std::function<void()> on_batch, std::function<void(Session&)> on_end);

  void Start();

  // Answers what has arrived already, sends it and closes.
  void Finish();

 private:
  boost::asio::awaitable<void> Read();
  boost::asio::awaitable<void> Write();

  std::span<char> Space();
  size_t Arrived(size_t count);
  size_t Decrypted();
  bool MustRead() const { return !closed_ && !finishing_; }
  void OnArrival(size_t count);
  void NoteInput();
  void MeetLimits();
  void CutOffInput();

  // Runs the requests that have arrived and has the replies sent. False if nothing more should be
  // read, for much is unsent, or unread behind a command that waits, or a long reply is not at its
  // end: it is to be called again when `may_go_on_` tells.
  bool RunRequests();
  bool RunUntilHeld();
  bool IsClogged();
  void ContinueReply();
  void RunRequest();
  void RefuseProtocol();

  // Has what the client is to be told sent, at once as far as the socket takes it.
  void Flush();
  void WakeSoon();
  void OnWake();
  boost::asio::awaitable<void> Resume();  // after a command that waited
  boost::asio::awaitable<void> Pause();   // until `may_go_on_` tells
  bool HasOutput() const { return !client_.out.empty() || (tls_ && tls_->HasOutput()); }
  void TakeOutput();
  void OnSent(size_t count);
  void OnAllSent();
  void CloseIfStalled();
  void CloseIfDone();
  void Close();

  StreamSocket socket_;
  std::unique_ptr<Tls> tls_;
  Engine& engine_;
  std::function<void()> on_batch_;
  std::function<void(Session&)> on_end_;
  Client client_;
  RequestParser parser_;
  std::string sending_;  // taken from client_.out; the first `sent_` bytes are gone
  size_t sent_ = 0;
  boost::asio::steady_timer has_output_;  // cancelled when the writer has work, or is to end
  boost::asio::steady_timer may_go_on_;   // cancelled when there is more to run, or to write
  int paused_ = 0;                        // coroutines that wait for it
  bool wake_posted_ = false;
  bool held_ = false;       // a command that waits holds up what is behind it
  bool finishing_ = false;  // no more requests; close when all is sent
  bool closed_ = false;
};

}  // namespace zsetd
