#include "server/replication/replica.h"

#include <algorithm>
#include <cassert>
#include <span>
#include <utility>

namespace zsetd {
namespace {

constexpr size_t kMostAtOnce = 64u << 10;

}  // namespace

Replica::Replica(Client& client, ReplicaOptions options, const Backlog& backlog)
    : client_(client), options_(std::move(options)), backlog_(backlog) {
  client_.output.source = this;
}

Replica::~Replica() {
  client_.output.source = nullptr;
  if (pipe_ != nullptr) pipe_->RemoveReader(reader_);
}

void Replica::StartStream(int64_t offset) {
  assert(backlog_.Has(offset));
  next_ = offset;
  acknowledged_ = offset - 1;
  state_ = State::kStream;
}

void Replica::AwaitSnapshot(int64_t offset) {
  assert(state_ == State::kWaiting);
  next_ = offset + 1;
  state_ = State::kPreparation;
}

void Replica::StartSnapshot(std::shared_ptr<SnapshotPipe> pipe, std::string mark) {
  assert(state_ == State::kPreparation && pipe != nullptr);
  pipe_ = std::move(pipe);
  reader_ = pipe_->AddReader();
  mark_ = std::move(mark);
  state_ = State::kSnapshot;
}

void Replica::StartFile(std::unique_ptr<ReadableFile> file) {
  assert(state_ == State::kPreparation && file != nullptr);
  file_ = std::move(file);
  state_ = State::kSnapshot;
}

void Replica::Acknowledge(int64_t offset, int64_t log_offset, Millis now) {
  acknowledged_ = std::max(acknowledged_, std::min(offset, backlog_.end()));
  logged_ = std::max(logged_, std::min(log_offset, backlog_.end()));
  acknowledged_at_ = now;
  is_noted_online_ = true;
  if (state_ == State::kAcknowledgement) state_ = State::kStream;
}

bool Replica::HasAll(int64_t offset) const {
  if (state_ != State::kStream) return false;
  return is_old_ ? !HasMore() && client_.output.UnsentBytes() == 0 : acknowledged_ >= offset;
}

Millis Replica::SilentFor(Millis now) const {
  return IsOnline() && !is_noted_online_ ? Millis(0) : now - acknowledged_at_;
}

void Replica::Note(Millis now) {
  if (IsOnline() && !std::exchange(is_noted_online_, true)) acknowledged_at_ = now;
  const ClientConnection& connection = client_.connection;
  const bool is_first = took_at_ == Millis(0);
  if (is_first || connection.sent != taken_) took_at_ = now;
  if (is_first || connection.received != received_) heard_at_ = now;
  taken_ = connection.sent;
  received_ = connection.received;
}

bool Replica::HasMore() const {
  return !queued_.empty() || (state_ == State::kStream && next_ <= backlog_.end());
}

void Replica::Fill(OutputBuffer& out) {
  if (!queued_.empty()) {
    out.Append(std::exchange(queued_, {}));
  } else if (pipe_ != nullptr) {
    FillFromPipe(out);
  } else if (file_ != nullptr) {
    FillFromFile(out);
  } else if (HasMore()) {
    next_ += static_cast<int64_t>(backlog_.Copy(next_, kMostAtOnce, out));
  }
}

void Replica::FillFromPipe(OutputBuffer& out) {
  pipe_->Read(reader_, out);
  if (!out.empty() || !pipe_->IsAtEnd(reader_)) return;
  pipe_->RemoveReader(reader_);
  pipe_.reset();
  out.Append(mark_);
  EndSnapshot(State::kAcknowledgement);
}

// Like Redis, closes a client that requested only a snapshot.
void Replica::EndSnapshot(State next) {
  assert(state_ == State::kSnapshot);
  state_ = options_.only_snapshot ? State::kDone : next;
  if (state_ != State::kDone) return;
  client_.connection.close_after_reply = true;
  client_.mailbox.Wake();
}

// The file was complete when it was opened. If it cannot be read any more, closes the connection,
// so that the replica does not use a part of it.
void Replica::FillFromFile(OutputBuffer& out) {
  const auto count = file_->Read(std::span(out.Extend(kMostAtOnce), kMostAtOnce));
  out.Truncate(count.value_or(0));
  if (count.ok() && *count > 0) return;
  file_.reset();
  if (!count.ok()) {
    state_ = State::kDone;
    client_.connection.close_now = true;
    return client_.mailbox.Wake();
  }
  EndSnapshot(State::kStream);
  if (state_ == State::kStream) Fill(out);
}

size_t Replica::BytesKept() const {
  assert(!NeedsStream() || backlog_.Has(next_));
  return NeedsStream() ? static_cast<size_t>(backlog_.end() + 1 - next_) : 0;
}

}  // namespace zsetd
