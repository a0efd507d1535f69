#include "server/net/sender.h"

#include <array>
#include <cassert>
#include <span>
#include <string_view>

namespace zsetd {
namespace {

// The capacity that an empty buffer keeps for the next replies.
constexpr size_t kMaxKeptBytes = 64u << 10;

// The bytes of a source that are taken before other clients are served.
constexpr size_t kMostBytesAtOnce = 1u << 20;

// Most pieces have 64 KB, so these are more than a socket takes.
constexpr size_t kSentPiecesAtOnce = 64;

void Empty(OutputBuffer& buffer) {
  buffer.Clear();
  if (buffer.capacity() > kMaxKeptBytes) buffer = OutputBuffer();
}

// Returns whether the source may have more at present.
bool TakeFrom(OutputSource& source, OutputBuffer& taken) {
  OutputBuffer piece;
  while (taken.size() < kMostBytesAtOnce) {
    source.Fill(piece);
    if (piece.empty()) return false;
    taken.Take(piece);
  }
  return true;
}

}  // namespace

void Sender::Take(ClientOutput& output) {
  OutputSource* const source = output.source;
  bool may_have_more = source != nullptr && source->HasMore();
  if (unsent_bytes() == 0) {
    OutputBuffer& taken = tls_ != nullptr ? plain_ : sending_;
    if (!output.buffer.empty()) taken.Swap(output.buffer);
    if (source != nullptr) may_have_more = TakeFrom(*source, taken) || source->HasMore();
  }
  left_output_ = !output.buffer.empty() || may_have_more;
}

// A client that reads fast makes room in the socket as long as bytes are written. So the rest of a
// long reply is sent in later rounds, in which other clients are served, too.
bool Sender::Send() {
  if (!IsHeldUp() && !NextPart()) return true;
  const auto [state, count] = Write();
  if (state == Socket::State::kDone) OnSent(count);
  return state != Socket::State::kBroken;
}

// Encrypts the next part.
bool Sender::NextPart() {
  if (!MayEncrypt()) return false;
  tls_->Encrypt(plain_, sending_);
  if (plain_.empty()) Empty(plain_);
  return IsHeldUp();
}

// Nearly all output is one piece, so the array for many pieces is only initialized when it is
// needed.
Socket::Result Sender::Write() const {
  assert(IsHeldUp());
  std::array<std::string_view, 2> first;
  if (sending_.Pieces(first) == 1) return socket_.Write(first[0]);
  std::array<std::string_view, kSentPiecesAtOnce> pieces;
  return socket_.Write(std::span(pieces.data(), sending_.Pieces(pieces)));
}

void Sender::Shrink() {
  if (sending_.empty()) sending_ = OutputBuffer();
  if (plain_.empty()) plain_ = OutputBuffer();
}

void Sender::Drop() {
  sending_ = OutputBuffer();
  plain_ = OutputBuffer();
}

bool Sender::IsDone() const {
  if (IsHeldUp()) return false;
  return (!left_output_ && plain_.empty()) || (tls_ != nullptr && !tls_->CanSpeak());
}

void Sender::OnSent(size_t count) {
  assert(count <= sending_.size());
  sending_.Drop(count);
  sent_ += count;
  ++counters_.writes;
  counters_.output_bytes += count;
  if (sending_.empty()) Empty(sending_);
}

}  // namespace zsetd
