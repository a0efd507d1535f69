#include "tests/server/net/socket/tls_for_tests.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string_view>

namespace zsetd {
namespace {

// Passes on what `from` has for the other end.
void Pass(Tls& from, Tls& to) {
  OutputBuffer none;
  OutputBuffer wire;
  from.Encrypt(none, wire);
  std::string_view left = wire.view();
  while (!left.empty()) {
    const std::span<char> space = to.Space();
    const size_t count = std::min(space.size(), left.size());
    std::copy_n(left.begin(), count, space.begin());
    left.remove_prefix(count);
    to.Arrived(count);
    to.ShakeHands();
  }
}

}  // namespace

TlsContext MakeSelfSignedContext() {
  TlsContext context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key.get());
  EXPECT_GT(X509_sign(certificate.get(), key.get(), EVP_sha256()), 0);
  EXPECT_EQ(SSL_CTX_use_certificate(context.get(), certificate.get()), 1);
  EXPECT_EQ(SSL_CTX_use_PrivateKey(context.get(), key.get()), 1);
  return context;
}

void ShakeHands(Tls& client, Tls& server) {
  constexpr int kMostSteps = 10;
  for (int i = 0; i < kMostSteps && !(client.CanSpeak() && server.CanSpeak()); ++i) {
    client.ShakeHands();
    Pass(client, server);
    Pass(server, client);
  }
  ASSERT_TRUE(client.CanSpeak() && server.CanSpeak());
}

}  // namespace zsetd
