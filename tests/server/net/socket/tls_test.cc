// The TLS protocol of a connection, without sockets.
#include "server/net/socket/tls.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tests/server/net/socket/tls_for_tests.h"

namespace zsetd {
namespace {

// A client of OpenSSL, and the end of the server under test.
class Pair {
 public:
  Pair() {
    SSL_set_bio(client_.get(), to_client_, from_client_);
    SSL_set_connect_state(client_.get());
    while (SSL_do_handshake(client_.get()) != 1) {
      ToServer();
      ToClient();
    }
    ToServer();
  }

  SSL* client() { return client_.get(); }
  Tls& server() { return server_; }

  // Passes at most one read of the client's bytes on. Returns false without such bytes.
  bool ToServerOnce() {
    const std::span<char> space = server_.Space();
    const int count = BIO_read(from_client_, space.data(), static_cast<int>(space.size()));
    if (count <= 0) return false;
    server_.Arrived(static_cast<size_t>(count));
    std::array<char, 16 << 10> plain;
    while (const size_t size = server_.Decrypt(plain)) received_.append(plain.data(), size);
    return true;
  }
  void ToServer() {
    while (ToServerOnce()) continue;
  }
  void ToClient() {
    OutputBuffer none;
    OutputBuffer wire;
    server_.Encrypt(none, wire);
    std::array<std::string_view, 16> pieces;
    while (const size_t count = wire.Pieces(pieces)) {
      for (size_t i = 0; i < count; ++i) {
        BIO_write(to_client_, pieces[i].data(), static_cast<int>(pieces[i].size()));
        wire.Drop(pieces[i].size());
      }
    }
  }

  const std::string& received() const { return received_; }

 private:
  const TlsContext client_context_{SSL_CTX_new(TLS_client_method()), SSL_CTX_free};
  const std::unique_ptr<SSL, decltype(&SSL_free)> client_{SSL_new(client_context_.get()), SSL_free};
  BIO* const to_client_ = BIO_new(BIO_s_mem());  // `client_` owns both
  BIO* const from_client_ = BIO_new(BIO_s_mem());
  Tls server_{MakeSelfSignedContext()};
  std::string received_;
};

TEST(Tls, ManyRequestedKeyUpdatesHoldMuchOutput) {
  Pair pair;
  ASSERT_EQ(std::string_view(SSL_get_version(pair.client())), "TLSv1.3");
  constexpr int kUpdates = 10'000;
  for (int i = 0; i < kUpdates && !pair.server().HoldsMuchOutput(); ++i) {
    ASSERT_EQ(SSL_key_update(pair.client(), SSL_KEY_UPDATE_REQUESTED), 1);
    ASSERT_EQ(SSL_do_handshake(pair.client()), 1);
    ASSERT_TRUE(pair.ToServerOnce());
  }
  ASSERT_EQ(pair.server().error(), "");
  EXPECT_TRUE(pair.server().HoldsMuchOutput());
  pair.ToClient();
  EXPECT_FALSE(pair.server().HoldsMuchOutput());
  char none = 0;
  EXPECT_LE(SSL_read(pair.client(), &none, 1), 0);  // takes the updates
  ASSERT_EQ(SSL_write(pair.client(), "hello", 5), 5);
  pair.ToServer();
  EXPECT_EQ(pair.received(), "hello");
}

}  // namespace
}  // namespace zsetd
