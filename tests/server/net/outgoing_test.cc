// Connections that the server opens: the calls that their owner receives in the poller's rounds.
#include "server/net/outgoing.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/server/net/socket/tls_for_tests.h"

namespace zsetd {
namespace {

constexpr int kMostRounds = 1000;  // of 10 ms at most

// A listening socket that acts as the other server.
class Listening {
 public:
  explicit Listening(const char* host) : descriptor_(socket(Family(host), SOCK_STREAM, 0)) {
    sockaddr_in v4 = {.sin_family = AF_INET};
    sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    v6.sin6_addr = in6addr_loopback;
    const bool is_v6 = Family(host) == AF_INET6;
    auto* address = is_v6 ? reinterpret_cast<sockaddr*>(&v6) : reinterpret_cast<sockaddr*>(&v4);
    socklen_t size = is_v6 ? sizeof(v6) : sizeof(v4);
    EXPECT_EQ(bind(descriptor_, address, size), 0);
    EXPECT_EQ(listen(descriptor_, 1), 0);
    EXPECT_EQ(getsockname(descriptor_, address, &size), 0);
    port_ = ntohs(is_v6 ? v6.sin6_port : v4.sin_port);
  }
  ~Listening() {
    close(descriptor_);
    Close();
  }

  int port() const { return port_; }
  void Accept() { connection_ = accept(descriptor_, nullptr, nullptr); }
  void Say(const std::string& text) {
    EXPECT_EQ(send(connection_, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  }
  std::string Hear(size_t count) {
    std::string text(count, '\0');
    EXPECT_EQ(recv(connection_, text.data(), count, MSG_WAITALL), static_cast<ssize_t>(count));
    return text;
  }
  // Returns the bytes that have arrived.
  std::string HearSome() {
    std::string text(1u << 20, '\0');
    text.resize(std::max<ssize_t>(recv(connection_, text.data(), text.size(), MSG_DONTWAIT), 0));
    return text;
  }
  // Takes part in a TLS connection as its client, which reads until the other side closes.
  void HearEncrypted() {
    const TlsContext context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
    const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context.get()), SSL_free);
    SSL_set_fd(ssl.get(), connection_);
    EXPECT_EQ(SSL_connect(ssl.get()), 1);
    std::vector<char> space(1u << 20);
    while (recv(connection_, space.data(), space.size(), 0) > 0) continue;  // faster than reading
  }
  void Close() {
    if (connection_ >= 0) close(std::exchange(connection_, -1));
  }

 private:
  static int Family(const std::string& host) { return host == "::1" ? AF_INET6 : AF_INET; }

  int descriptor_;
  int connection_ = -1;
  int port_ = 0;
};

struct Owner : Connection::Owner {
  void OnConnected() override {
    log += "connected.";
    if (on_event) on_event();
  }
  void OnReceived(std::string_view bytes) override {
    received += bytes;
    if (on_event) on_event();
  }
  void OnConnectionEnd(std::string_view reason) override {
    log += "ended.";
    why = reason;
    if (on_event) on_event();
  }

  std::string log;
  std::string received;
  std::string why;
  std::function<void()> on_event;
};

class OutgoingTest : public testing::Test {
 protected:
  void Connect(const std::string& host, int port) {
    connection_ = connector_.Connect({.host = host, .port = port}, owner_);
    EXPECT_EQ(owner_.log, "");
  }

  void RunUntil(const std::function<bool()>& done) {
    for (int i = 0; i < kMostRounds && !done(); ++i) {
      EXPECT_TRUE(poller_.RunRound(Millis(10), {}));
    }
    EXPECT_TRUE(done());
  }
  void RunUntilLogged(const std::string& log) {
    RunUntil([&] { return owner_.log == log; });
  }

  Settings settings_;
  Poller poller_;
  OutgoingConnector connector_{poller_, settings_};
  Owner owner_;
  std::unique_ptr<Connection> connection_;
};

TEST_F(OutgoingTest, SendsAndReceives) {
  for (const char* host : {"127.0.0.1", "::1", "localhost"}) {
    SCOPED_TRACE(host);
    Listening server(host);
    owner_ = Owner();
    Connect(host, server.port());
    RunUntilLogged("connected.");
    server.Accept();
    connection_->output().Append("PING\r\n");
    connection_->Send();
    poller_.RunRound(Millis(10), {});
    EXPECT_EQ(server.Hear(6), "PING\r\n");
    server.Say("+PONG\r\n");
    RunUntil([&] { return owner_.received == "+PONG\r\n"; });
    server.Close();
    RunUntilLogged("connected.ended.");
    EXPECT_EQ(owner_.why, "the other side has closed the connection");
  }
}

TEST_F(OutgoingTest, SendsMoreThanTheNetworkTakesInOneCall) {
  Listening server("127.0.0.1");
  Connect("127.0.0.1", server.port());
  RunUntilLogged("connected.");
  server.Accept();
  std::string sent;
  for (int i = 0; sent.size() < (8u << 20); ++i) sent += std::to_string(i) + " ";
  connection_->output().Append(sent);
  connection_->Send();
  std::string heard;
  while (heard.size() < sent.size()) {
    poller_.RunRound(Millis(10), {});
    heard += server.HearSome();
  }
  EXPECT_EQ(heard, sent);
}

// Otherwise another server that reads fast would keep the engine busy.
TEST_F(OutgoingTest, SendsOneEncryptedPartInARound) {
  constexpr size_t kPartBytes = 1u << 20;
  constexpr size_t kMostRecordBytes = kPartBytes / 100;
  Listening server("127.0.0.1");
  sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(server.port())};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int near = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(connect(near, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  server.Accept();
  std::thread reader([&] { server.HearEncrypted(); });
  auto tls = std::make_unique<Tls>(MakeSelfSignedContext());
  connection_ = AcceptConnection(poller_, settings_, Socket(near), std::move(tls), owner_);
  RunUntilLogged("connected.");
  connection_->output().Append(std::string(64 * kPartBytes, 'x'));
  connection_->Send();
  RunUntil([&, before = connection_->unsent_bytes()]() mutable {
    const size_t left = connection_->unsent_bytes();
    if (left < before) {
      EXPECT_LE(before - left, kPartBytes + kMostRecordBytes);
    }
    before = left;
    return left == 0;
  });
  connection_.reset();
  reader.join();
}

TEST_F(OutgoingTest, DoesNotReceiveWhileReceivingIsOff) {
  Listening server("127.0.0.1");
  Connect("127.0.0.1", server.port());
  RunUntilLogged("connected.");
  server.Accept();
  connection_->set_receives(false);
  server.Say("later");
  for (int i = 0; i < 5; ++i) poller_.RunRound(Millis(10), {});
  EXPECT_EQ(owner_.received, "");
  connection_->set_receives(true);
  RunUntil([&] { return owner_.received == "later"; });
}

TEST_F(OutgoingTest, ReportsWhyThereIsNoConnection) {
  int port = 0;
  {
    Listening server("127.0.0.1");
    port = server.port();
  }
  for (const std::string host : {"127.0.0.1", "localhost"}) {
    owner_ = Owner();
    Connect(host, port);
    RunUntilLogged("ended.");
    EXPECT_EQ(owner_.why, "Connection refused");
  }
  owner_ = Owner();
  Connect("no-such-host.invalid", port);
  RunUntilLogged("ended.");
  EXPECT_TRUE(owner_.why.starts_with("cannot look up no-such-host.invalid: ")) << owner_.why;
  owner_ = Owner();
  connection_ = connector_.Connect({.host = "127.0.0.1", .port = port, .with_tls = true}, owner_);
  RunUntilLogged("ended.");
  EXPECT_EQ(owner_.why,
            "either tls-ca-cert-file or tls-ca-cert-dir is required to verify other servers");
}

// In each of its calls, and before the first one.
TEST_F(OutgoingTest, CanBeDestroyedByItsOwner) {
  for (const std::string when : {"", "connected.", "connected.ended."}) {
    Listening server("127.0.0.1");
    owner_ = Owner();
    owner_.on_event = [&] {
      if (owner_.log == when) connection_.reset();
    };
    Connect("127.0.0.1", server.port());
    if (when.empty()) connection_.reset();
    for (int i = 0; i < 5; ++i) poller_.RunRound(Millis(10), {});
    if (connection_) {
      server.Accept();
      server.Close();
    }
    for (int i = 0; i < 5; ++i) poller_.RunRound(Millis(10), {});
    EXPECT_EQ(owner_.log, when);
    EXPECT_EQ(connection_, nullptr);
  }
  connection_ = connector_.Connect({.host = "no-such-host.invalid", .port = 1}, owner_);
  connection_.reset();
  poller_.RunRound(Millis(0), {});
}

}  // namespace
}  // namespace zsetd
