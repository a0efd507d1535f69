#include "server/net/socket/tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>
#include <utility>

namespace zsetd {
namespace {

constexpr size_t kMostAtOnce = 64u << 10;    // of a read or a write; OpenSSL counts in int
constexpr size_t kMostEncrypted = 1u << 20;  // encrypted bytes before the socket must take some

}  // namespace

Tls::Tls(const TlsContext& context, Role role)
    : ssl_(SSL_new(context.get())), input_(BIO_new(BIO_s_mem())), output_(BIO_new(BIO_s_mem())) {
  SSL_set_bio(ssl_.get(), input_, output_);
  if (role == Role::kServer) {
    SSL_set_accept_state(ssl_.get());
  } else {
    SSL_set_connect_state(ssl_.get());
  }
}

void Tls::ShakeHands() {
  if (ended_ || SSL_is_init_finished(ssl_.get()) != 0) return;
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  if (result <= 0) Fail(result);
}

void Tls::Arrived(size_t count) {
  assert(count <= arrived_.size());
  [[maybe_unused]] const int written = BIO_write(input_, arrived_.data(), static_cast<int>(count));
  assert(written == static_cast<int>(count));  // memory takes all
}

size_t Tls::Decrypt(std::span<char> space) {
  assert(!space.empty());
  if (ended_) return 0;
  ERR_clear_error();
  const int result =
      SSL_read(ssl_.get(), space.data(), static_cast<int>(std::min(space.size(), kMostAtOnce)));
  if (result > 0) return static_cast<size_t>(result);
  Fail(result);
  return 0;
}

// Handles the result of a failed call. The need for more bytes is not a failure.
void Tls::Fail(int result) {
  const int reason = SSL_get_error(ssl_.get(), result);
  if (reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE) return;
  ended_ = true;
  if (reason == SSL_ERROR_ZERO_RETURN) return;  // the client ended the TLS session
  char text[256] = "the connection has broken";
  if (const unsigned long code = ERR_get_error()) ERR_error_string_n(code, text, sizeof(text));
  ERR_clear_error();
  error_ = text;
}

void Tls::Encrypt(OutputBuffer& plain, OutputBuffer& wire) {
  size_t left = kMostEncrypted;
  for (bool more = true; more;) {
    const size_t count = EncryptPart(plain, left);
    assert(count <= left);
    left -= count;
    more = count > 0 && left > 0;
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(output_, &bytes);
    wire.Append({bytes, static_cast<size_t>(size)});
    BIO_reset(output_);
  }
}

// Encrypts a part of the first piece, at most `most` bytes. Returns the number of encrypted bytes.
size_t Tls::EncryptPart(OutputBuffer& plain, size_t most) {
  std::array<std::string_view, 1> piece;
  if (plain.Pieces(piece) == 0 || !CanSpeak()) return 0;
  const size_t size = std::min({piece[0].size(), most, kMostAtOnce});
  ERR_clear_error();
  const int result = SSL_write(ssl_.get(), piece[0].data(), static_cast<int>(size));
  if (result <= 0) {
    Fail(result);
    return 0;
  }
  assert(static_cast<size_t>(result) <= size);
  plain.Drop(static_cast<size_t>(result));
  return static_cast<size_t>(result);
}

bool Tls::SayGoodbye() {
  if (std::exchange(said_goodbye_, true)) return false;
  if (CanSpeak()) SSL_shutdown(ssl_.get());
  return HasOutput();
}

}  // namespace zsetd
