#include "server/net/session.h"

#include <spdlog/spdlog.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "server/engine/input_limits.h"
#include "server/net/clock.h"
#include "server/net/coroutine.h"
#include "server/net/hang_up.h"

namespace zsetd {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr size_t kMuchUnsentBytes = 1u << 20;      // sendable; then no more requests are run
constexpr size_t kMuchUnreadBytes = 1u << 20;      // then no more is read while a command waits
constexpr size_t kMaxKeptOutputBytes = 64u << 10;  // of an empty buffer, for the next replies

// An end of a connection that has broken already has no address; reading will
// tell that it is gone.
std::string OwnEndOf(const StreamSocket& socket) {
  error_code error;
  const StreamEndpoint endpoint = socket.local_endpoint(error);
  return error ? "?:0" : AddressText(endpoint);
}

// Of a unix socket only the server's end has a name, which is told for both.
std::string PeerOf(const StreamSocket& socket) {
  error_code error;
  const StreamEndpoint endpoint = socket.remote_endpoint(error);
  if (error) return "?:0";
  return IsUnix(endpoint) ? OwnEndOf(socket) : AddressText(endpoint);
}

// Whether the socket took nothing this time, and may the next. Asio asks again by itself where it
// waits, but not in a call that does not.
bool MayGoOn(const error_code& error) {
  return error == asio::error::would_block || error == asio::error::interrupted;
}

void Empty(std::string& buffer) {
  if (buffer.capacity() > kMaxKeptOutputBytes) {
    std::string().swap(buffer);
  } else {
    buffer.clear();
  }
}

}  // namespace

Session::Session(StreamSocket socket, std::unique_ptr<Tls> tls, Engine& engine,
                 std::function<void()> on_batch, std::function<void(Session&)> on_end)
    : socket_(std::move(socket)),
      tls_(std::move(tls)),
      engine_(engine),
      on_batch_(std::move(on_batch)),
      on_end_(std::move(on_end)),
      client_(engine.NextClientId(), PeerOf(socket_), OwnEndOf(socket_), engine.now(),
              [this] { WakeSoon(); }),
      has_output_(socket_.get_executor(), asio::steady_timer::time_point::max()),
      may_go_on_(socket_.get_executor(), asio::steady_timer::time_point::max()) {}

void Session::Start() {
  error_code ignored;
  socket_.non_blocking(true, ignored);
  client_.descriptor = socket_.native_handle();
  engine_.Attach(client_);
  spdlog::debug("Accepted {}", client_.address);
  const auto self = shared_from_this();
  Spawn(socket_.get_executor(), [self] { return self->Read(); });
  Spawn(socket_.get_executor(), [self] { return self->Write(); });
}

asio::awaitable<void> Session::Read() {
  // Reads even while the client waits: that is how we learn that it has gone.
  while (MustRead()) {
    const std::span<char> space = Space();
    const auto [error, count] =
        co_await socket_.async_read_some(asio::buffer(space.data(), space.size()), kAwait);
    if (error && error != asio::error::eof) co_return Close();
    if (error) break;
    for (size_t plain = Arrived(count); plain > 0 && MustRead(); plain = Decrypted()) {
      OnArrival(plain);
      while (!RunRequests()) co_await Pause();
    }
    if (tls_ && tls_->ended()) break;
  }
  finishing_ = true;
  CloseIfDone();
}

std::span<char> Session::Space() { return tls_ ? tls_->Space() : parser_.Space(); }

// How many bytes the parser has got of what has come.
size_t Session::Arrived(size_t count) {
  if (!tls_) return count;
  tls_->Arrived(count);
  return Decrypted();
}

size_t Session::Decrypted() {
  if (!tls_) return 0;
  const size_t count = tls_->Decrypt(parser_.Space());
  if (!tls_->error().empty()) spdlog::debug("TLS with {}: {}", client_.address, tls_->error());
  if (count == 0) Flush();  // what the two ends tell each other by themselves
  return count;
}

void Session::OnArrival(size_t count) {
  parser_.Arrived(count);
  NoteInput();
  MeetLimits();
  client_.last_active = engine_.now();
  client_.input_total += count;
  ++engine_.stats().reads;
  engine_.stats().net_input_bytes += count;
  if (SendsTooMuch(client_, engine_.settings(), engine_.access())) CutOffInput();
}

void Session::MeetLimits() {
  parser_.set_limits(RequestLimitsFor(client_, engine_.settings(), engine_.access()));
}

void Session::CutOffInput() {
  spdlog::warn("Closing {}: it has sent more than is kept for it, {} bytes are unread",
               client_.address, client_.input_bytes);
  ++engine_.stats().flooding_disconnections;
  Close();
}

bool Session::RunRequests() {
  engine_.BeginBatch(UnixNow());
  const bool all_run = RunUntilHeld();
  NoteInput();
  Flush();
  on_batch_();
  return all_run;
}

void Session::NoteInput() {
  client_.input_bytes = parser_.buffered_bytes();
  client_.input_capacity = parser_.BytesUsed();
}

bool Session::RunUntilHeld() {
  if (client_.close_after_reply) finishing_ = true;  // so a request said that was held back
  while (!finishing_ && !closed_ && !client_.close_now && !client_.IsWaiting()) {
    if (IsClogged()) return closed_;
    if (client_.long_reply) {
      ContinueReply();
      return false;
    }
    const RequestParser::Result result = parser_.Next();
    if (result == RequestParser::Result::kNeedMore) break;
    if (result == RequestParser::Result::kBroken) RefuseProtocol();
    if (result == RequestParser::Result::kRequest) RunRequest();
  }
  held_ = client_.IsWaiting();
  return !held_ || parser_.buffered_bytes() <= kMuchUnreadBytes;
}

// Messages that wait for a long reply's end do not count: they wait for what would wait for them.
bool Session::IsClogged() {
  if (client_.SendableBytes() <= kMuchUnsentBytes) return false;
  Flush();
  CloseIfStalled();
  return client_.SendableBytes() > kMuchUnsentBytes;
}

// Others come in between two pieces.
void Session::ContinueReply() {
  engine_.ContinueReply(client_);
  asio::post(socket_.get_executor(), [self = shared_from_this()] { self->may_go_on_.cancel(); });
}

void Session::RunRequest() {
  if (parser_.HasReadAhead()) engine_.Foresee(client_, parser_.Ahead());
  engine_.Execute(client_, parser_.words());
  if (parser_.limits().stranger) MeetLimits();  // it may have said who it is
  if (client_.close_after_reply) finishing_ = true;
}

void Session::RefuseProtocol() {
  spdlog::debug("Closing {}: {}", client_.address, parser_.error());
  client_.reply.Begin();
  client_.reply.Error(parser_.error());
  finishing_ = true;
}

asio::awaitable<void> Session::Write() {
  while (!closed_) {
    if (sending_.empty()) {
      co_await has_output_.async_wait(kAwait);
      continue;
    }
    const auto rest = asio::buffer(sending_.data() + sent_, sending_.size() - sent_);
    const auto [error, count] = co_await socket_.async_write_some(rest, kAwait);
    if (error) co_return Close();
    OnSent(count);
    if (sent_ == sending_.size()) OnAllSent();
  }
}

void Session::Flush() {
  if (closed_ || client_.close_now || !HasOutput()) return;
  if (!sending_.empty()) return;  // the writer takes it next
  TakeOutput();
  if (sending_.empty()) return;
  error_code error;
  const size_t count = socket_.write_some(asio::buffer(sending_), error);
  if (error && !MayGoOn(error)) return Close();
  OnSent(count);
  if (sent_ == sending_.size()) return OnAllSent();
  has_output_.cancel();
}

void Session::TakeOutput() {
  if (tls_) {
    tls_->Encrypt(client_.out, sending_);
    if (client_.out.empty()) Empty(client_.out);
  } else {
    sending_.swap(client_.out);
  }
  client_.sending_bytes = sending_.size();
}

void Session::OnSent(size_t count) {
  sent_ += count;
  client_.sending_bytes -= count;
  client_.last_active = engine_.now();
  client_.output_total += count;
  ++engine_.stats().writes;
  engine_.stats().net_output_bytes += count;
  if (client_.SendableBytes() <= kMuchUnsentBytes) may_go_on_.cancel();
}

void Session::OnAllSent() {
  sent_ = 0;
  if (client_.UnsentBytes() == 0) client_.pushed_bytes = 0;
  Empty(sending_);
  TakeOutput();
  CloseIfDone();
}

// Messages for this client may come many at a time while others' requests run: one write for all.
// Whom another's request closes, by CLIENT KILL, learns that before the other has a reply.
void Session::WakeSoon() {
  error_code ignored;  // a connection that has broken is closed in any case
  if (client_.close_now) socket_.shutdown(StreamSocket::shutdown_both, ignored);
  if (std::exchange(wake_posted_, true)) return;
  asio::post(socket_.get_executor(), [self = shared_from_this()] { self->OnWake(); });
}

void Session::OnWake() {
  wake_posted_ = false;
  if (closed_) return;
  if (client_.close_now) return Close();
  Flush();
  CloseIfStalled();
  if (!held_ || client_.IsWaiting()) return;
  held_ = false;
  if (paused_ > 0) return void(may_go_on_.cancel());  // who pauses goes on
  Spawn(socket_.get_executor(), [self = shared_from_this()] { return self->Resume(); });
}

asio::awaitable<void> Session::Pause() {
  ++paused_;
  co_await may_go_on_.async_wait(kAwait);
  --paused_;
}

asio::awaitable<void> Session::Resume() {
  while (!RunRequests()) co_await Pause();
  CloseIfDone();
}

void Session::CloseIfStalled() {
  if (closed_ || !engine_.IsStalled(client_)) return;
  spdlog::warn("Closing {}: it does not read, {} bytes are unsent", client_.address,
               client_.UnsentBytes());
  ++engine_.stats().stalled_disconnections;
  Close();
}

// Linux still hands out what has arrived, and then tells of the end, as if the
// client had closed its half. So it is Read() that finishes: bytes may be on
// their way into its buffer already.
void Session::Finish() {
  error_code ignored;  // a connection that has broken ends by itself
  socket_.shutdown(StreamSocket::shutdown_receive, ignored);
}

void Session::CloseIfDone() {
  if (closed_ || !finishing_ || !sending_.empty()) return;
  if (!client_.out.empty() && (!tls_ || tls_->CanSpeak())) return;
  if (tls_ && tls_->SayGoodbye()) return Flush();
  HangUp(std::move(socket_));
  Close();
}

void Session::Close() {
  if (std::exchange(closed_, true)) return;
  engine_.Detach(client_);
  spdlog::debug("Closed {}", client_.address);
  error_code ignored;
  socket_.close(ignored);
  has_output_.cancel();
  may_go_on_.cancel();
  on_end_(*this);
}

}  // namespace zsetd
