#include "server/net/session.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "core/util/allocation_size.h"
#include "server/engine/acl/input_limits.h"
#include "server/engine/store/value_limits.h"
#include "server/process/clock.h"

namespace zsetd {
namespace {

using boost::system::error_code;

// While more sendable bytes are unsent, no requests are run.
constexpr size_t kMuchUnsentBytes = 1u << 20;

// While a command waits, reading stops when more bytes are unread.
constexpr size_t kMuchUnreadBytes = 1u << 20;

// Up to this many requests of a client are prefetched together with those of other clients.
constexpr size_t kFewRequests = 4;

// Longer replies are sent before the end of the round.
constexpr size_t kManyReplyBytes = 64u << 10;

// The memory of a session in the tables that refer to it.
constexpr size_t kBytesAround = 512;

constexpr std::chrono::seconds kHandshakeTime{10};

// If the connection has already broken, this end has no address. The next read then reports that it
// is closed.
std::string OwnEndOf(const StreamSocket& socket) {
  error_code error;
  const StreamEndpoint endpoint = socket.local_endpoint(error);
  return error ? "?:0" : AddressText(endpoint);
}

// For a Unix socket only the server's end has a name, which is used for both ends.
std::string PeerOf(const StreamSocket& socket) {
  error_code error;
  const StreamEndpoint endpoint = socket.remote_endpoint(error);
  if (error) return "?:0";
  return IsUnix(endpoint) ? OwnEndOf(socket) : AddressText(endpoint);
}

}  // namespace

Session::Session(StreamSocket socket, std::unique_ptr<Tls> tls, Engine& engine, const Log& log,
                 Poller& poller, HeldReplies& held_replies, LingeringCloses& closes,
                 std::function<void(Session&)> on_end)
    : handshake_ends_(socket.get_executor()),
      tls_(std::move(tls)),
      engine_(engine),
      log_(log),
      poller_(poller),
      held_replies_(held_replies),
      closes_(closes),
      on_end_(std::move(on_end)),
      client_(engine.clients().NextId(), PeerOf(socket), OwnEndOf(socket), engine.store().now(),
              [this] { OnWake(); }),
      socket_(std::move(socket)),
      sender_(client_, socket_, tls_.get(), engine.metrics().stats()) {}

void Session::Start() {
  client_.connection.descriptor = socket_.descriptor();
  client_.connection.bytes =
      kBytesAround + AllocationSize(sizeof(*this)) + (tls_ ? Tls::kBytesUsed : 0);
  engine_.clients().Attach(client_);
  Report(LogLevel::kVerbose, "Accepted");
  if (tls_) LimitHandshake();
  AwaitNext();
}

// Without this limit a client that never completes the handshake would be kept forever, because
// `timeout` is 0 by default.
void Session::LimitHandshake() {
  handshake_ends_.expires_after(kHandshakeTime);
  handshake_ends_.async_wait([weak = weak_from_this()](const error_code&) {
    const auto self = weak.lock();
    if (!self || self->closed_ || self->tls_->CanSpeak()) return;
    self->Report(LogLevel::kVerbose, "Closing", "TLS handshake timed out");
    self->Close();
  });
}

// Reads even while the client waits, to detect that it has disconnected. While the session does not
// read, the poller reports that.
void Session::Receive() {
  if (sender_.IsHeldUp()) Flush();
  if (HasLeftUnread()) return Close();
  if (closed_ || paused_ || ended_ || finishing_) return;
  const auto [state, count] = Read();
  if (state == Socket::State::kBroken) return Close();
  ended_ = state == Socket::State::kEnded || left_to_read_ == 0;
  if (count > 0) OnArrival(Arrived(count));
  Prefetch();
}

// After Finish(), reads no more than had arrived by then.
Socket::Result Session::Read() {
  const std::span<char> space = Space();
  if (!left_to_read_) return socket_.Read(space);
  const Socket::Result result = socket_.Read(space.first(std::min(space.size(), *left_to_read_)));
  *left_to_read_ -= result.count;
  return result;
}

// Whether the client has left, although its input is not read. A client that only closed its half
// may still read replies, so its requests are run. If it closes its half while its command waits,
// it counts as having left, as it does when the end is read.
bool Session::HasLeftUnread() const {
  if (closed_ || !(paused_ || finishing_)) return false;
  return has_broken() || (has_ended() && client_.IsWaiting());
}

// Prefetches for the first requests together with those of other ready clients. If there are many
// requests, each prefetches when it runs, because the cache cannot hold the keys of all clients.
void Session::Prefetch() {
  const auto requests = parser_.Upcoming();
  prefetched_ = !requests.empty() && requests.size() <= kFewRequests;
  if (prefetched_) engine_.executor().Prefetch(client_, requests);
}

std::span<char> Session::Space() { return tls_ ? tls_->Space() : parser_.Space(); }

// Returns the number of bytes that the parser received.
size_t Session::Arrived(size_t count) {
  if (!tls_) return count;
  tls_->Arrived(count);
  return Decrypted();
}

bool Session::DecryptMore() {
  const size_t count = Decrypted();
  if (count > 0) OnArrival(count);
  return count > 0;
}

size_t Session::Decrypted() {
  if (!tls_) return 0;
  const size_t count = tls_->Decrypt(parser_.Space());
  if (!tls_->error().empty()) Report(LogLevel::kVerbose, "TLS with", tls_->error());
  return count;
}

void Session::ShrinkBuffers() {
  parser_.Shrink();
  sender_.Shrink();
}

void Session::OnArrival(size_t count) {
  parser_.Arrived(count);
  NoteInput();
  ApplyLimits();
  client_.connection.last_active = engine_.store().now();
  client_.connection.received += count;
  ++engine_.metrics().stats().reads;
  engine_.metrics().stats().net_input_bytes += count;
  if (SendsTooMuch(client_, engine_.settings(), engine_.access())) CloseForQueryBuffer();
}

void Session::ApplyLimits() {
  parser_.set_limits(RequestLimitsFor(client_, engine_.settings(), engine_.access()));
}

void Session::CloseForQueryBuffer() {
  Report(LogLevel::kWarning, "Closing",
         "query buffer limit exceeded, " + std::to_string(client_.connection.input_bytes) +
             " bytes are pending");
  ++engine_.metrics().stats().flooding_disconnections;
  Close();
}

void Session::Serve() {
  // Runs in every case, because the prefetched requests stay in place during this round only.
  engine_.executor().FetchPrefetched();
  if (closed_ || client_.connection.close_now) return;
  engine_.executor().BeginBatch(UnixNow());
  // Sending frees memory, so fewer keys are evicted.
  if (engine_.store().ExceedsLimit()) Flush();
  if (client_.HoldsIdleBuffers(engine_.store().now())) ShrinkBuffers();
  do {
    paused_ = !RunUntilHeld();
  } while (!paused_ && !closed_ && !finishing_ && !client_.connection.close_now && DecryptMore());
  NoteInput();
  engine_.clients().OnMemoryChange(client_);
  if (!paused_ && (ended_ || (tls_ && tls_->ended()))) finishing_ = true;
  if (left_to_read_ && client_.IsWaiting()) finishing_ = true;
  if (client_.output.buffer.size() > kManyReplyBytes) Flush();
}

void Session::NoteInput() {
  client_.connection.input_bytes = parser_.buffered_bytes();
  client_.connection.input_capacity = AllocationSize(parser_.BytesUsed());
}

bool Session::RunUntilHeld() {
  // A request that was held back may have set this.
  if (client_.connection.close_after_reply) finishing_ = true;
  while (!finishing_ && !closed_ && !client_.connection.close_now && !client_.IsWaiting()) {
    if (IsClogged()) return closed_;  // a closed session is not paused
    if (client_.output.long_reply) {
      ContinueReply();
      return false;
    }
    const RequestParser::Result result = parser_.Next();
    if (result == RequestParser::Result::kNeedMore) break;
    if (result == RequestParser::Result::kBroken) RefuseProtocol();
    if (result == RequestParser::Result::kRequest) RunRequest();
  }
  return !client_.IsWaiting() || parser_.buffered_bytes() <= kMuchUnreadBytes;
}

// Messages that wait for the end of a long reply do not count. Otherwise that reply and the
// messages would wait for each other.
bool Session::IsClogged() {
  if (client_.output.SendableBytes() <= kMuchUnsentBytes) return false;
  Flush();
  CloseIfStalled();
  return closed_ || client_.output.SendableBytes() > kMuchUnsentBytes;
}

// Other clients are served between two pieces.
void Session::ContinueReply() {
  engine_.executor().ContinueReply(client_);
  poller_.Wake(*this);
}

void Session::RunRequest() {
  if (!std::exchange(prefetched_, false) && parser_.HasReadAhead()) {
    engine_.executor().Prefetch(client_, parser_.Ahead());
    engine_.executor().FetchPrefetched();
  }
  engine_.executor().Execute(client_, parser_.argv());
  if (parser_.limits().unauthenticated) ApplyLimits();  // the client may have authenticated
  if (client_.connection.close_after_reply) finishing_ = true;
}

void Session::RefuseProtocol() {
  Report(LogLevel::kVerbose, "Closing", parser_.error());
  client_.reply.Begin();
  client_.reply.Error(parser_.error());
  finishing_ = true;
}

void Session::Send() {
  if (closed_) return;
  if (client_.connection.close_now) return Close();
  Flush();
  CloseIfStalled();
  CloseIfDone();
  AwaitNext();
}

// Whether the replies wait for the log. A reply whose changes may be lost is never sent; the
// connection is closed instead.
bool Session::IsHeld() {
  const Release release = engine_.reply_holds().ReleaseOf(client_);
  held_ = release == Release::kLater;
  if (release == Release::kNever) Close();
  return release != Release::kNow;
}

void Session::Flush() {
  if (closed_ || client_.connection.close_now || IsHeld()) return;
  const uint64_t before = client_.connection.sent;
  if (!sender_.Send()) return Close();
  if (client_.connection.sent == before) return;
  client_.connection.last_active = engine_.store().now();
  if (engine_.store().ExceedsLimit()) sender_.Shrink();
  client_.NoteMemory();
}

// A session that is paused because of unsent bytes resumes when the socket takes more. If the
// socket took everything, the session resumes in the next round.
void Session::AwaitNext() {
  if (closed_) return;
  if (held_) held_replies_.Add(weak_from_this());
  const bool held_up = sender_.IsHeldUp();
  if (paused_ && !held_up && !held_ && !client_.IsWaiting()) poller_.Wake(*this);
  if (sender_.has_more()) poller_.Wake(*this);
  const Interest interest = {
      .reads = !paused_ && !finishing_, .writes = held_up, .end = paused_ && client_.IsWaiting()};
  if (!poller_.Watch(socket_.descriptor(), *this, interest)) Close();
}

// Many messages for this client may arrive while other clients' requests run; one write sends all
// of them. A client that CLIENT KILL closes is closed before the caller receives its reply.
void Session::OnWake() {
  if (client_.connection.close_now) socket_.Break();
  if (client_.connection.close_now && !client_.executing) DropBuffers();
  poller_.Wake(*this);
}

// Frees the buffers now rather than when the session ends, so that no key is evicted because of
// unused buffers. The requests in them are not used again, because Prefetch() ends before any of
// them runs.
void Session::DropBuffers() {
  sender_.Drop();
  parser_ = RequestParser();
  prefetched_ = false;
}

void Session::CloseIfStalled() {
  const bool has_read_all = client_.output.UnsentBytes() == 0 && !client_.IsReplica();
  if (closed_ || has_read_all || !engine_.clients().IsStalled(client_)) return;
  Report(LogLevel::kWarning, "Closing",
         "output buffer limit exceeded, " + std::to_string(client_.output.UnsentBytes()) +
             " bytes are unsent");
  ++engine_.metrics().stats().stalled_disconnections;
  Close();
}

// Does not close the half for input: Linux would reset the connection when more input arrives, and
// discard output that is in transit.
void Session::Finish() {
  left_to_read_ = socket_.Unread();
  if (left_to_read_ == 0) ended_ = true;
  poller_.Wake(*this);
}

void Session::CloseIfDone() {
  if (closed_ || !finishing_ || !sender_.IsDone()) return;
  if (tls_ && tls_->SayGoodbye()) {
    Flush();
    if (closed_ || sender_.IsHeldUp()) return;
  }
  poller_.Forget(socket_.descriptor(), *this);
  closes_.Close(std::move(socket_));
  Close();
}

void Session::Close() {
  if (std::exchange(closed_, true)) return;
  engine_.clients().Detach(client_);
  Report(LogLevel::kVerbose, "Closed");
  socket_.Close();
  handshake_ends_.cancel();
  on_end_(*this);
}

void Session::Report(LogLevel level, std::string_view event, std::string_view reason) const {
  if (!log_.IsOn(level)) return;
  std::string line(event);
  line.append(" ").append(client_.address);
  if (!reason.empty()) line.append(": ").append(reason);
  log_.Write(level, line);
}

}  // namespace zsetd
