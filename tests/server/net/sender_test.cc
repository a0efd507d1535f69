// How much one call sends, while the other side reads as fast as it can.
#include "server/net/sender.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/server/net/socket/tls_for_tests.h"

namespace zsetd {
namespace {

constexpr size_t kPartBytes = 1u << 20;
constexpr size_t kMostRecordBytes = kPartBytes / 100;  // that TLS adds to a part

// Both ends of a connection. Everything that arrives at the far end is discarded.
class Drained {
 public:
  Drained() {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const where = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(listener, where, size), 0);
    EXPECT_EQ(listen(listener, 1), 0);
    EXPECT_EQ(getsockname(listener, where, &size), 0);
    far_ = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(connect(far_, where, size), 0);
    near_ = Socket(accept(listener, nullptr, nullptr));
    close(listener);
    drain_ = std::thread([this] {
      std::vector<char> space(kPartBytes);
      while (recv(far_, space.data(), space.size(), 0) > 0) continue;
    });
  }
  Drained(const Drained&) = delete;
  ~Drained() {
    near_.Break();
    drain_.join();
    near_.Close();
    close(far_);
  }

  const Socket& near() const { return near_; }

 private:
  Socket near_;
  int far_ = -1;
  std::thread drain_;
};

TEST(Sender, SendsOneEncryptedPartAtATime) {
  const TlsContext client_context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  Tls client(client_context, Tls::Role::kClient);
  Tls tls(MakeSelfSignedContext());
  ShakeHands(client, tls);
  const Drained connection;
  NetworkCounters counters;
  Sender sender(connection.near(), &tls, counters);
  OutputBuffer buffer;
  ClientOutput output(buffer);
  buffer.Append(std::string(64 * kPartBytes, 'x'));
  sender.Take(output);
  int parts = 0;
  while (sender.unsent_bytes() > 0) {
    ASSERT_TRUE(sender.Send());
    EXPECT_LE(sender.TakeSent(), kPartBytes + kMostRecordBytes);
    const bool is_part_sent = !sender.IsHeldUp() && sender.unsent_bytes() > 0;
    EXPECT_EQ(sender.HasNextPart(), is_part_sent);
    if (is_part_sent) ++parts;
  }
  EXPECT_GT(parts, 0) << "the socket took no part as a whole, so that the test shows nothing";
  EXPECT_TRUE(sender.IsDone());
}

TEST(Sender, KeepsOutputUntilTheHandshakeEnds) {
  Tls tls(MakeSelfSignedContext());
  const Drained connection;
  NetworkCounters counters;
  Sender sender(connection.near(), &tls, counters);
  OutputBuffer buffer;
  ClientOutput output(buffer);
  buffer.Append("+OK\r\n");
  sender.Take(output);
  EXPECT_FALSE(sender.HasNextPart());
  EXPECT_TRUE(sender.Send());
  EXPECT_EQ(sender.unsent_bytes(), 5u);
}

}  // namespace
}  // namespace zsetd
