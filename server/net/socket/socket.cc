#include "server/net/socket/socket.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>

namespace zsetd {
namespace {

using State = Socket::State;

constexpr size_t kMostPieces = 64;
constexpr size_t kMostWritten = (1u << 20) + (64u << 10);  // room for a part that TLS encrypted

// Returns the result of a failed call.
Socket::Result Failure() {
  const bool not_now = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  return {not_now ? State::kNotNow : State::kBroken, 0};
}

}  // namespace

Socket::Socket(StreamSocket accepted) {
  boost::system::error_code error;
  descriptor_ = accepted.release(error);
}

Socket::Result Socket::Read(std::span<char> space) const {
  assert(!space.empty());
  const ssize_t count = recv(descriptor_, space.data(), space.size(), MSG_DONTWAIT);
  if (count < 0) return Failure();
  return {count == 0 ? State::kEnded : State::kDone, static_cast<size_t>(count)};
}

Socket::Result Socket::Write(std::string_view bytes) const {
  assert(!bytes.empty());
  const size_t size = std::min(bytes.size(), kMostWritten);
  const ssize_t count = send(descriptor_, bytes.data(), size, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (count < 0) return Failure();
  return {State::kDone, static_cast<size_t>(count)};
}

Socket::Result Socket::Write(std::span<const std::string_view> pieces) const {
  std::array<iovec, kMostPieces> parts;
  assert(!pieces.empty() && pieces.size() <= parts.size());
  size_t part_count = 0;
  for (size_t left = kMostWritten; left > 0 && part_count < pieces.size(); ++part_count) {
    const std::string_view piece = pieces[part_count].substr(0, left);
    parts[part_count] = {.iov_base = const_cast<char*>(piece.data()), .iov_len = piece.size()};
    left -= piece.size();
  }
  msghdr message = {};
  message.msg_iov = parts.data();
  message.msg_iovlen = part_count;
  const ssize_t count = sendmsg(descriptor_, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (count < 0) return Failure();
  return {State::kDone, static_cast<size_t>(count)};
}

bool Socket::HasEnded() const {
  char next = 0;
  return recv(descriptor_, &next, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

size_t Socket::Unread() const {
  int bytes = 0;
  return ioctl(descriptor_, FIONREAD, &bytes) == 0 && bytes > 0 ? static_cast<size_t>(bytes) : 0;
}

bool Socket::HasUnacknowledged() const {
  int bytes = 0;
  return ioctl(descriptor_, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

// Errors of these calls are ignored, because a broken connection ends by itself.
void Socket::EndOutput() const { shutdown(descriptor_, SHUT_WR); }
void Socket::Break() const { shutdown(descriptor_, SHUT_RDWR); }

void Socket::Close() {
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
}

}  // namespace zsetd
