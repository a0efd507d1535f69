#include "tests/propagation/follower.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>

#include "server/engine/support/errors.h"
#include "tests/propagation/recorder.h"
#include "tests/transcript/socket_peer.h"
#include "tests/transcript/transcript.h"

namespace zsetd {
namespace {

constexpr std::string_view kMarker = "$12\r\nend-of-units\r\n";

// Returns the lines of errors in replies, including those within arrays.
std::string Errors(std::string_view replies) {
  std::string errors;
  while (!replies.empty()) {
    const size_t end = replies.find("\r\n");
    const std::string_view line = replies.substr(0, end);
    replies.remove_prefix(end + 2);
    if (line.starts_with('-')) errors.append(line).append("\n");
    const int bulk = line.starts_with('$') ? std::atoi(std::string(line.substr(1)).c_str()) : -1;
    if (bulk >= 0) replies.remove_prefix(static_cast<size_t>(bulk) + 2);
  }
  return errors;
}

}  // namespace

std::string EngineFollower::Follow(std::string_view units) {
  applier_.Begin();
  std::string wrong;
  for (const std::vector<std::string>& words : Requests(units)) {
    const std::vector<std::string_view> request(words.begin(), words.end());
    const absl::Status status = applier_.Apply(request);
    if (wrong.empty() && !status.ok()) wrong = ErrorLine(status);
  }
  if (applier_.InTransaction()) wrong = "a unit is not complete";
  applier_.End();
  return wrong;
}

std::string EngineFollower::Digest() {
  peer_.Send("digest", "DEBUG DIGEST\r\n");
  return peer_.Receive("digest", Millis(0));
}

RedisFollower::RedisFollower(int port) : socket_(ConnectTo(port)) {}

RedisFollower::~RedisFollower() { close(socket_); }

std::string RedisFollower::Follow(std::string_view units) { return Errors(Ask(units)); }

std::string RedisFollower::Digest() { return Ask("DEBUG DIGEST\r\n"); }

// Returns the replies before that of an ECHO, which is appended to the requests.
std::string RedisFollower::Ask(std::string_view requests) {
  std::string left(requests);
  left += Multibulk({"ECHO", "end-of-units"});
  std::string replies;
  while (!replies.ends_with(kMarker)) {
    if (!left.empty()) {
      const ssize_t sent = send(socket_, left.data(), left.size(), MSG_NOSIGNAL);
      if (sent <= 0) return "-the connection is lost\r\n";
      left.erase(0, static_cast<size_t>(sent));
      continue;
    }
    std::array<char, 4096> bytes;
    const ssize_t count = recv(socket_, bytes.data(), bytes.size(), 0);
    if (count <= 0) return "-the connection is lost\r\n";
    replies.append(bytes.data(), static_cast<size_t>(count));
  }
  replies.resize(replies.size() - kMarker.size());
  return replies;
}

}  // namespace zsetd
