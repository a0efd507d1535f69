#include "server/net/session.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "core/util/allocation_size.h"
#include "server/engine/client/traffic.h"
#include "server/net/io_thread.h"
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

// With more unread bytes, requests run in turns alone: they may exceed a limit of the client.
constexpr size_t kFewUnreadBytes = 64u << 10;

// Longer replies are sent before the end of the round.
constexpr size_t kManyReplyBytes = 64u << 10;

// The memory of a session in the tables that refer to it.
constexpr size_t kBytesAround = 512;

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

Session::Session(StreamSocket socket, std::unique_ptr<Tls> tls, uint64_t client_id, Millis now,
                 IoThread& thread, const Log& log, HeldReplies& held_replies,
                 std::function<void(Session&)> on_end)
    : tls_(std::move(tls)),
      thread_(thread),
      port_(thread.port()),
      poller_(thread.poller()),
      log_(log),
      held_replies_(held_replies),
      on_end_(std::move(on_end)),
      client_(client_id, PeerOf(socket), OwnEndOf(socket), now, [this] { OnWake(); }),
      socket_(std::move(socket)),
      counters_(thread.counters()),
      sender_(socket_, tls_.get(), counters_) {}

void Session::Start(RequestPort& port) {
  client_.connection.descriptor = socket_.descriptor();
  client_.connection.uses_tls = tls_ != nullptr;
  client_.connection.io_thread = thread_.number();
  client_.connection.bytes =
      kBytesAround + AllocationSize(sizeof(*this)) + (tls_ ? Tls::kBytesUsed : 0);
  port.Attach(client_);
  parser_.set_limits(port.LimitsOf(client_));
  Report(LogLevel::kVerbose, "Accepted");
  if (poller_.IsOwn()) return AwaitNext();
  Wake();  // it awaits requests at the end of its first round
}

void Session::EndHandshake() {
  if (closed_ || tls_ == nullptr || tls_->CanSpeak()) return;
  Report(LogLevel::kVerbose, "Closing", "TLS handshake timed out");
  Close();
}

// Reads even while the client waits, to detect that it has disconnected. While the session does not
// read, the poller reports that.
void Session::Receive() {
  if (sender_.IsHeldUp()) SendTaken();
  if (HasLeftUnread()) must_close_ = true;
  if (closed_ || must_close_ || ended_ || !MayRead()) return;
  const auto [state, count] = Read();
  must_close_ = state == Socket::State::kBroken;
  ended_ = state == Socket::State::kEnded || left_to_read_ == 0;
  if (count > 0) OnArrival(Arrived(count));
}

// The limits are those of the last turn. If a limit has been raised since then, larger requests are
// read in the turn alone. If it has been lowered, that applies from the next request on.
Polled::Requests Session::LookAhead() {
  may_share_ = false;
  if (closed_ || must_close_ || paused_ || finishing_ || waits_) return {};
  const auto requests = parser_.Upcoming();
  const bool is_plain = !ended_ && !held_ && !left_to_read_ && sender_.unsent_bytes() == 0;
  if (is_plain && !requests.empty() && parser_.buffered_bytes() <= kFewUnreadBytes) {
    const std::optional<FoundCommands> found = port_.FindReads(requests);
    may_share_ = found.has_value();
    found_ = found.value_or(FoundCommands());
  }
  return {.count = requests.size(), .may_share = may_share_};
}

bool Session::MayServeShared() const {
  return !abandoned_ && !asked_to_finish_ && port_.MayServeShared(client_);
}

size_t Session::AnnounceShared(size_t may_prefetch) {
  if (closed_ || must_close_) return 0;
  may_share_ = may_share_ && MayServeShared();
  if (may_share_) {
    ReportTraffic();
    assert(!closed_);
    ApplyLimits();
    Prefetch();
    return 0;
  }
  if (paused_ || finishing_ || waits_) return 0;
  const auto requests = parser_.Upcoming();
  if (requests.empty() || requests.size() > may_prefetch) return 0;
  port_.Prefetch(client_, requests);
  prefetched_ = prefetched_early_ = true;
  return requests.size();
}

bool Session::ServeShared() {
  if (!std::exchange(may_share_, false)) return false;
  do {
    if (!RunShared()) return false;
  } while (DecryptMore());
  if (tls_ && tls_->ended()) return false;
  ReportTraffic();
  TakeOutput();
  assert(!closed_ && !held_);  // no replies are held in a shared turn
  AnnounceReplies();
  saves_memory_ = false;
  return true;
}

// A request is taken after it has run. One that must run alone stays in the parser, which may move
// it before its turn.
bool Session::RunShared() {
  while (client_.output.SendableBytes() <= kMuchUnsentBytes) {
    const auto requests = parser_.Upcoming();
    if (requests.empty()) return parser_.Next() == RequestParser::Result::kNeedMore;
    if (!std::exchange(prefetched_, false) && parser_.BeginsBatch()) PrefetchBatch(requests);
    if (!port_.ExecuteShared(client_, requests.front(), found_)) return false;
    (void)parser_.Next();  // the request that has run
    const IoThread::Passed passed = thread_.PassOnShared();
    if (passed == IoThread::Passed::kNo) [[likely]]
      continue;
    if (passed == IoThread::Passed::kEnded || !MayServeShared()) return false;
  }
  return false;
}

void Session::Announce() {
  if (closed_) return;
  if (must_close_ || abandoned_ || client_.connection.close_now) return Close();
  if (std::exchange(asked_to_finish_, false)) StartFinishing();
  const bool has_arrived = received_ > 0;
  const bool is_prefetched = std::exchange(prefetched_early_, false);
  ReportTraffic();
  if (closed_ || !has_arrived) return;
  ApplyLimits();
  if (!is_prefetched) Prefetch();
}

// After Finish(), reads no more than had arrived by then.
Socket::Result Session::Read() {
  const std::span<char> space = Space();
  if (!left_to_read_) return socket_.Read(space);
  const Socket::Result result = socket_.Read(space.first(std::min(space.size(), *left_to_read_)));
  *left_to_read_ -= result.count;
  return result;
}

bool Session::MayRead() const {
  return !paused_ && !finishing_ && !(tls_ && tls_->HoldsMuchOutput());
}

// Whether the client has left, although its input is not read. A client that only closed its half
// may still read replies, so its requests are run. If it closes its half while its command waits,
// it counts as having left, as it does when the end is read.
bool Session::HasLeftUnread() const {
  if (closed_ || MayRead()) return false;
  return has_broken() || (has_ended() && waits_);
}

// Prefetches for the first requests together with those of other ready clients. If there are many
// requests, each prefetches when it runs, because the cache cannot hold the keys of all clients.
void Session::Prefetch() {
  const auto requests = parser_.Upcoming();
  prefetched_ = !requests.empty() && requests.size() <= kFewRequests;
  if (prefetched_) port_.Prefetch(client_, requests);
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
  if (count == 0) return false;
  OnArrival(count);
  ReportTraffic();
  ApplyLimits();
  return true;
}

size_t Session::Decrypted() {
  if (!tls_) return 0;
  const size_t count = tls_->Decrypt(parser_.Space());
  if (!tls_->error().empty()) Report(LogLevel::kVerbose, "TLS with", tls_->error());
  return count;
}

void Session::ShrinkBuffers() {
  parser_.Shrink();
  ShrinkOutput();
}

void Session::ShrinkOutput() {
  if (client_.output.buffer.empty()) client_.output.buffer = OutputBuffer();
  sender_.Shrink();
  client_.output.sending_capacity = sender_.unsent_capacity();
}

void Session::OnArrival(size_t count) {
  parser_.Arrived(count);
  received_ += count;
  ++counters_.reads;
  counters_.input_bytes += count;
}

void Session::ReportTraffic() {
  reported_unsent_ = sender_.unsent_bytes();
  const Traffic traffic = {.received = std::exchange(received_, 0),
                           .sent = sender_.TakeSent(),
                           .input_bytes = parser_.buffered_bytes(),
                           .input_capacity = AllocationSize(parser_.BytesUsed()),
                           .unsent_bytes = reported_unsent_,
                           .unsent_capacity = sender_.unsent_capacity()};
  if (!port_.Begin(client_, traffic)) CloseForQueryBuffer();
}

void Session::ApplyLimits() { parser_.set_limits(port_.LimitsOf(client_)); }

void Session::CloseForQueryBuffer() {
  Report(LogLevel::kWarning, "Closing",
         "query buffer limit exceeded, " + std::to_string(client_.connection.input_bytes) +
             " bytes are pending");
  Close();
}

void Session::Serve() {
  // Runs in every case, because the prefetched requests stay in place during this round only.
  port_.FetchPrefetched();
  if (closed_ || client_.connection.close_now) return;
  port_.StartServing(UnixNow());
  // Sending frees memory, so fewer keys are evicted.
  if (port_.IsMemoryShort()) Flush();
  if (client_.HoldsIdleBuffers(port_.now())) ShrinkBuffers();
  do {
    paused_ = !RunUntilHeld();
  } while (!paused_ && !closed_ && !finishing_ && !client_.connection.close_now && DecryptMore());
  if (closed_) return;
  ReportTraffic();
  port_.OnMemoryChange(client_);
  if (!paused_ && (ended_ || (tls_ && tls_->ended()))) finishing_ = true;
  if (left_to_read_ && client_.IsWaiting()) finishing_ = true;
  if (client_.output.buffer.size() > kManyReplyBytes) Flush();
  ApplyLimits();  // RESET makes the client a stranger, whose next request is looked at beforehand
  thread_.PassOn();
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
  port_.ContinueReply(client_);
  poller_.Wake(*this);
}

void Session::PrefetchBatch(std::span<const Args> requests) {
  port_.Prefetch(client_, requests);
  port_.FetchPrefetched();
}

void Session::RunRequest() {
  if (!std::exchange(prefetched_, false) && parser_.HasReadAhead()) PrefetchBatch(parser_.Ahead());
  port_.Execute(client_, parser_.argv());
  if (parser_.limits().unauthenticated) ApplyLimits();  // the client may have authenticated
  if (client_.connection.close_after_reply) finishing_ = true;
  if (thread_.PassOn()) port_.StartServing(UnixNow());
}

void Session::RefuseProtocol() {
  Report(LogLevel::kVerbose, "Closing", parser_.error());
  if (client_.output.RepliesEnabled()) {
    client_.reply.Begin();
    client_.reply.Error(parser_.error());
  }
  finishing_ = true;
}

// A reply whose changes may be lost is never sent; the connection is closed instead.
void Session::Collect() {
  if (closed_) return;
  if (client_.connection.close_now) return Close();
  TakeOutput();
  if (closed_) return;
  AnnounceReplies();
  CloseIfStalled();
  if (held_) held_replies_.Add(weak_from_this());
  waits_ = client_.IsWaiting();
  saves_memory_ = port_.IsMemoryShort();
}

// Replies that are sent in this round are freed soon, unless the socket does not take them.
void Session::AnnounceReplies() {
  if (reported_unsent_ == 0 && !held_) thread_.AddReplies(sender_.unsent_bytes());
}

// The output that is taken counts as sent until the connection reports the unsent bytes.
void Session::TakeOutput() {
  const Release release = port_.ReleaseOf(client_);
  held_ = release == Release::kLater;
  if (release == Release::kNever) return Close();
  if (held_) return;
  sender_.Take(client_.output);
  client_.output.sending_capacity = sender_.unsent_capacity();
  client_.NoteMemory();
}

void Session::Send() {
  if (closed_ || must_close_) return;
  SendTaken();
  if (saves_memory_) sender_.Shrink();
  CloseIfDone();
  AwaitNext();
}

void Session::SendTaken() {
  if (!sender_.Send()) CloseSoon();
}

// Sends while the engine is used, so that less memory is used or more requests may run.
void Session::Flush() {
  if (closed_ || client_.connection.close_now) return;
  TakeOutput();
  if (closed_) return;
  SendTaken();
  if (must_close_) return Close();
  if (port_.IsMemoryShort()) ShrinkOutput();
  ReportTraffic();
}

// A session that is paused because of unsent bytes resumes when the socket takes more. If the
// socket took everything, the session resumes, or sends the next part, in the next round. The next
// round also reports how many bytes are unsent if that has changed: output limits compare it.
void Session::AwaitNext() {
  if (closed_ || must_close_) return;
  const bool held_up = sender_.IsHeldUp();
  const bool goes_on = paused_ && !held_up && !held_ && !waits_;
  const bool has_more =
      sender_.HasNextPart() || (sender_.left_output() && sender_.unsent_bytes() == 0 && !held_);
  const bool has_news = sender_.unsent_bytes() != reported_unsent_;
  if (goes_on || has_more || has_news) poller_.Wake(*this);
  const bool reads = MayRead();
  assert(reads || held_up || has_more || paused_ || finishing_);
  const Interest interest = {.reads = reads, .writes = held_up, .end = !reads && waits_};
  if (!poller_.Watch(socket_.descriptor(), *this, interest)) CloseSoon();
}

// Many messages for this client may arrive while other clients' requests run; one write sends all
// of them. A client that CLIENT KILL closes is closed before the caller receives its reply. Another
// thread leaves the buffers to the session's own thread, which may be using them.
void Session::OnWake() {
  if (client_.connection.close_now) socket_.Break();
  const bool is_unused = client_.connection.close_now && !client_.executing;
  if (is_unused && poller_.IsOwn()) DropBuffers();
  Wake();
}

// Frees the buffers now rather than when the session ends, so that no key is evicted because of
// unused buffers. The requests in them are not used again: those that were announced are prefetched
// before.
void Session::DropBuffers() {
  port_.FetchPrefetched();
  sender_.Drop();
  reported_unsent_ = client_.output.sending_bytes = client_.output.sending_capacity = 0;
  parser_ = RequestParser();
  prefetched_ = false;
}

void Session::CloseIfStalled() {
  if (closed_ || !port_.IsStalled(client_)) return;
  Report(LogLevel::kWarning, "Closing",
         "output buffer limit exceeded, " + std::to_string(client_.output.UnsentBytes()) +
             " bytes are unsent");
  Close();
}

void Session::Finish() {
  asked_to_finish_ = true;
  Wake();
}

void Session::Abandon() {
  abandoned_ = true;
  Wake();
}

// Does not close the half for input: Linux would reset the connection when more input arrives, and
// discard output that is in transit.
void Session::StartFinishing() {
  left_to_read_ = socket_.Unread();
  if (left_to_read_ == 0) ended_ = true;
}

void Session::CloseIfDone() {
  if (must_close_ || !finishing_ || held_ || !sender_.IsDone()) return;
  if (tls_ && tls_->SayGoodbye()) {
    SendTaken();
    if (must_close_ || sender_.IsHeldUp()) return;
  }
  has_finished_ = true;
  CloseSoon();
}

// The client leaves when the engine is used next.
void Session::CloseSoon() {
  must_close_ = true;
  Wake();
}

void Session::Close() {
  if (std::exchange(closed_, true)) return;
  port_.Detach(client_);
  Report(LogLevel::kVerbose, "Closed");
  if (has_finished_) {
    poller_.Forget(socket_.descriptor(), *this);
    thread_.closes().Close(std::move(socket_));
  }
  socket_.Close();
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
