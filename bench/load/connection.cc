#include "bench/load/connection.h"

#include <array>
#include <cassert>
#include <optional>

#include "protocol/resp/reply_reader.h"

namespace zsetd {

absl::Status Connection::Send(std::string_view batch, size_t requests, TimePoint due) {
  assert(idle());
  awaited_ = requests;
  due_ = due;
  return socket_.Send(batch);
}

absl::Status Connection::OnReadable(Results& results) {
  std::array<char, 64u << 10> space;
  const absl::StatusOr<size_t> count = socket_.Receive(space);
  if (!count.ok()) return count.status();
  received_.append(space.data(), *count);
  return TakeReplies(results);
}

absl::Status Connection::TakeReplies(Results& results) {
  const TimePoint now = Clock::now();
  std::string_view rest = received_;
  while (const std::optional<size_t> length = ReplyLength(rest)) {
    const std::string_view reply = rest.substr(0, *length);
    if (reply.front() == '-' || awaited_ == 0) {
      return absl::FailedPreconditionError("the server answered " +
                                           std::string(reply.substr(0, reply.find('\r'))));
    }
    --awaited_;
    results.Record(now - due_);
    rest.remove_prefix(*length);
  }
  received_.erase(0, received_.size() - rest.size());
  return absl::OkStatus();
}

}  // namespace zsetd
