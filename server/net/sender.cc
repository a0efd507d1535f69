#include "server/net/sender.h"

namespace zsetd {
namespace {

constexpr size_t kMaxKeptBytes = 64u << 10;  // of an empty buffer, for the next replies

void Empty(OutputBuffer& buffer) {
  buffer.Clear();
  if (buffer.capacity() > kMaxKeptBytes) buffer = OutputBuffer();
}

}  // namespace

bool Sender::Send() {
  while (IsHeldUp() || TakeOutput()) {
    const auto [state, count] = socket_.Write(sending_.view().substr(sent_));
    if (state == Socket::State::kBroken) return false;
    if (state == Socket::State::kNotNow) return true;
    OnSent(count);
    if (IsHeldUp()) return true;  // it took a part
  }
  return true;
}

bool Sender::IsDone() const {
  return !IsHeldUp() && (client_.out.empty() || (tls_ && !tls_->CanSpeak()));
}

bool Sender::TakeOutput() {
  if (!HasOutput()) return false;
  if (tls_) {
    tls_->Encrypt(client_.out, sending_);
    if (client_.out.empty()) Empty(client_.out);
  } else {
    sending_.Swap(client_.out);
  }
  client_.sending_bytes = sending_.size();
  return IsHeldUp();
}

void Sender::OnSent(size_t count) {
  sent_ += count;
  client_.sending_bytes -= count;
  client_.output_total += count;
  ++stats_.writes;
  stats_.net_output_bytes += count;
  if (sent_ < sending_.size()) return;
  sent_ = 0;
  Empty(sending_);
  if (client_.UnsentBytes() == 0) client_.pushed_bytes = 0;
}

}  // namespace zsetd
