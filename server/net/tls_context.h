#pragma once

#include <openssl/ssl.h>

#include <memory>

#include "absl/status/status.h"
#include "server/engine/config/settings.h"

namespace zsetd {

// What all TLS connections share: the certificate, who vouches for clients, what is spoken.
// Connections that were made with it keep it.
using TlsContext = std::shared_ptr<SSL_CTX>;

// Reads the files that the settings name. A refusal is for people; `context` is then as before.
absl::Status MakeTlsContext(const Settings& settings, TlsContext& context);

// Whether nothing about TLS was said between the two settings, one of which came of the other.
bool SameTls(const Settings& a, const Settings& b);

}  // namespace zsetd
