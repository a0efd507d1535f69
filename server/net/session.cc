#include "server/net/session.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/util/allocation_size.h"
#include "server/engine/acl/input_limits.h"
#include "server/engine/store/value_limits.h"
#include "server/process/clock.h"

namespace zsetd {
namespace {

using boost::system::error_code;

constexpr size_t kMuchUnsentBytes = 1u << 20;  // sendable; then no more requests are run
constexpr size_t kMuchUnreadBytes = 1u << 20;  // then no more is read while a command waits
constexpr size_t kFewRequests = 4;             // of a client, that others' come between
constexpr size_t kManyReplyBytes = 64u << 10;  // then they do not wait for the round's end
constexpr size_t kBytesAround = 512;           // of a session, in the tables that refer to it
constexpr std::chrono::seconds kHandshakeTime{10};

// An end of a connection that has broken already has no address; reading
// reports that it is closed.
std::string OwnEndOf(const StreamSocket& socket) {
  error_code error;
  const StreamEndpoint endpoint = socket.local_endpoint(error);
  return error ? "?:0" : AddressText(endpoint);
}

// Only the server's end of a Unix socket has a name, which is used for both.
std::string PeerOf(const StreamSocket& socket) {
  error_code error;
  const StreamEndpoint endpoint = socket.remote_endpoint(error);
  if (error) return "?:0";
  return IsUnix(endpoint) ? OwnEndOf(socket) : AddressText(endpoint);
}

}  // namespace

Session::Session(StreamSocket socket, std::unique_ptr<Tls> tls, Engine& engine, Poller& poller,
                 HeldReplies& held_replies, LingeringCloses& closes,
                 std::function<void(Session&)> on_end)
    : handshake_ends_(socket.get_executor()),
      tls_(std::move(tls)),
      engine_(engine),
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
  spdlog::debug("Accepted {}", client_.connection.address);
  if (tls_) LimitHandshake();
  AwaitNext();
}

// A client that never finishes one would otherwise be kept forever: `timeout` is 0 unless it is
// set.
void Session::LimitHandshake() {
  handshake_ends_.expires_after(kHandshakeTime);
  handshake_ends_.async_wait([weak = weak_from_this()](const error_code&) {
    const auto self = weak.lock();
    if (!self || self->closed_ || self->tls_->CanSpeak()) return;
    spdlog::debug("Closing {}: TLS handshake timed out", self->client_.connection.address);
    self->Close();
  });
}

// Reads even while the client waits, to detect that it has disconnected. Without reads, the poller
// reports it.
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

// After Finish(), not more than had arrived then.
Socket::Result Session::Read() {
  const std::span<char> space = Space();
  if (!left_to_read_) return socket_.Read(space);
  const Socket::Result result = socket_.Read(space.first(std::min(space.size(), *left_to_read_)));
  *left_to_read_ -= result.count;
  return result;
}

// A client that only closed its half may still be taking replies, so its requests are run; but one
// that does so while its command waits has left, as if that were read.
bool Session::HasLeftUnread() const {
  if (closed_ || !(paused_ || finishing_)) return false;
  return has_broken() || (has_ended() && client_.IsWaiting());
}

// Prefetches together with other ready clients. Many requests prefetch for themselves when they
// run, because the cache cannot hold the keys of all clients.
void Session::Prefetch() {
  const auto requests = parser_.Upcoming();
  foreseen_ = !requests.empty() && requests.size() <= kFewRequests;
  if (foreseen_) engine_.executor().Prefetch(client_, requests);
}

std::span<char> Session::Space() { return tls_ ? tls_->Space() : parser_.Space(); }

// The number of received bytes that the parser has.
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
  if (!tls_->error().empty())
    spdlog::debug("TLS with {}: {}", client_.connection.address, tls_->error());
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
  spdlog::warn("Closing {}: query buffer limit exceeded, {} bytes are pending",
               client_.connection.address, client_.connection.input_bytes);
  ++engine_.metrics().stats().flooding_disconnections;
  Close();
}

void Session::Serve() {
  engine_.executor()
      .FetchPrefetched();  // in any case: requests stay where they are in this round alone
  if (closed_ || client_.connection.close_now) return;
  engine_.executor().BeginBatch(UnixNow());
  if (engine_.store().ExceedsLimit())
    Flush();  // or keys would be evicted for what need only be sent
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
  if (client_.connection.close_after_reply) finishing_ = true;  // as a held-back request required
  while (!finishing_ && !closed_ && !client_.connection.close_now && !client_.IsWaiting()) {
    if (IsClogged()) return closed_;  // which pauses no client
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

// Messages that wait for a long reply's end do not count: they wait for what would wait for them.
bool Session::IsClogged() {
  if (client_.output.SendableBytes() <= kMuchUnsentBytes) return false;
  Flush();
  CloseIfStalled();
  return closed_ || client_.output.SendableBytes() > kMuchUnsentBytes;
}

// Others come in between two pieces.
void Session::ContinueReply() {
  engine_.executor().ContinueReply(client_);
  poller_.Wake(*this);
}

void Session::RunRequest() {
  if (!std::exchange(foreseen_, false) && parser_.HasReadAhead()) {
    engine_.executor().Prefetch(client_, parser_.Ahead());
    engine_.executor().FetchPrefetched();
  }
  engine_.executor().Execute(client_, parser_.argv());
  if (parser_.limits().unauthenticated) ApplyLimits();  // it may have authenticated
  if (client_.connection.close_after_reply) finishing_ = true;
}

void Session::RefuseProtocol() {
  spdlog::debug("Closing {}: {}", client_.connection.address, parser_.error());
  client_.output.reply.Begin();
  client_.output.reply.Error(parser_.error());
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

// Whether the replies wait for the log. A reply whose changes may be lost is never sent: the
// connection ends instead.
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

// A session that is paused because much was unsent resumes when the socket accepts more, or now if
// it accepted everything.
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

// Many messages for this client may arrive while the requests of others run: one write sends all. A
// client that CLIENT KILL closes is closed before the killer has its reply.
void Session::OnWake() {
  if (client_.connection.close_now) socket_.Break();
  if (client_.connection.close_now && !client_.executing) DropBuffers();
  poller_.Wake(*this);
}

// At once, not when the session ends: no key is to be evicted for buffers that are unused. The
// requests that were read are not used again (Prefetch() is done before any of them runs).
void Session::DropBuffers() {
  sender_.Drop();
  parser_ = RequestParser();
  foreseen_ = false;
}

void Session::CloseIfStalled() {
  const bool has_read_all = client_.output.UnsentBytes() == 0 && !client_.IsReplica();
  if (closed_ || has_read_all || !engine_.clients().IsStalled(client_)) return;
  spdlog::warn("Closing {}: output buffer limit exceeded, {} bytes are unsent",
               client_.connection.address, client_.output.UnsentBytes());
  ++engine_.metrics().stats().stalled_disconnections;
  Close();
}

// Does not close the half for input: Linux then resets the connection when more arrives, and
// discards output that is in transit.
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
  spdlog::debug("Closed {}", client_.connection.address);
  socket_.Close();
  handshake_ends_.cancel();
  on_end_(*this);
}

}  // namespace zsetd
