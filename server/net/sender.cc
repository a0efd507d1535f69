#include "server/net/sender.h"

#include <array>
#include <span>
#include <string_view>

namespace zsetd {
namespace {

// The capacity that an empty buffer keeps for the next replies.
constexpr size_t kMaxKeptBytes = 64u << 10;

// The bytes of a source that are sent before other clients are served.
constexpr uint64_t kMostAtOnce = 1u << 20;

// Most pieces have 64 KB, so these are more than a socket takes.
constexpr size_t kPiecesAtOnce = 64;

void Empty(OutputBuffer& buffer) {
  buffer.Clear();
  if (buffer.capacity() > kMaxKeptBytes) buffer = OutputBuffer();
}

}  // namespace

bool Sender::Send() {
  const uint64_t enough = client_.connection.sent + kMostAtOnce;
  has_more_ = false;
  while (IsHeldUp() || TakeOutput()) {
    const auto [state, count] = Write();
    if (state == Socket::State::kBroken) return false;
    if (state == Socket::State::kNotNow) return true;
    OnSent(count);
    if (IsHeldUp()) return true;  // the socket took a part
    has_more_ = client_.output.source != nullptr && client_.connection.sent >= enough;
    if (has_more_) return true;
  }
  return true;
}

// Nearly all output is one piece, so the array for many pieces is only initialized when it is
// needed.
Socket::Result Sender::Write() const {
  std::array<std::string_view, 2> first;
  if (sending_.Pieces(first) == 1) return socket_.Write(first[0]);
  std::array<std::string_view, kPiecesAtOnce> pieces;
  return socket_.Write(std::span(pieces.data(), sending_.Pieces(pieces)));
}

void Sender::Shrink() {
  if (client_.output.buffer.empty()) client_.output.buffer = OutputBuffer();
  if (sending_.empty()) sending_ = OutputBuffer();
  client_.output.sending_capacity = sending_.capacity();
}

void Sender::Drop() {
  sending_ = OutputBuffer();
  client_.output.sending_bytes = 0;
  client_.output.sending_capacity = 0;
}

bool Sender::IsDone() const {
  if (client_.output.source != nullptr && client_.output.source->HasMore()) return false;
  return !IsHeldUp() && (client_.output.buffer.empty() || (tls_ && !tls_->CanSpeak()));
}

bool Sender::TakeOutput() {
  ClientOutput& output = client_.output;
  if (output.source != nullptr && output.buffer.empty()) output.source->Fill(output.buffer);
  if (!HasOutput()) return false;
  if (tls_) {
    tls_->Encrypt(client_.output.buffer, sending_);
    if (client_.output.buffer.empty()) Empty(client_.output.buffer);
  } else {
    sending_.Swap(client_.output.buffer);
  }
  client_.output.sending_bytes = sending_.size();
  client_.output.sending_capacity = sending_.capacity();
  return IsHeldUp();
}

void Sender::OnSent(size_t count) {
  sending_.Drop(count);
  client_.output.sending_bytes -= count;
  client_.connection.sent += count;
  ++stats_.writes;
  stats_.net_output_bytes += count;
  if (sending_.empty()) Empty(sending_);
  client_.output.sending_capacity = sending_.capacity();
  if (!sending_.empty()) return;
  if (client_.output.UnsentBytes() == 0) client_.output.pushed_bytes = 0;
}

}  // namespace zsetd
