#pragma once

#include <openssl/ssl.h>

#include <memory>

#include "absl/status/status.h"
#include "server/engine/config/settings.h"

namespace zsetd {

// The configuration that TLS connections share: the certificate, the authorities of clients,
// protocol versions and ciphers. A connection keeps the context with which it was made.
using TlsContext = std::shared_ptr<SSL_CTX>;

// Reads the files that the settings name. On an error, which is human-readable, `context` does not
// change.
absl::Status MakeTlsContext(const Settings& settings, TlsContext& context);

// Like `MakeTlsContext()`, but for connections that this server opens. The other side's certificate
// must come from one of the authorities in the settings. This server sends its client certificate,
// or else its server certificate if there is one. As in Redis, the name in the other side's
// certificate is not checked.
absl::Status MakeTlsClientContext(const Settings& settings, TlsContext& context);

// Checks that the files of the client certificate can be read, if the settings name one. A refusal
// is human-readable.
absl::Status CheckTlsClientFiles(const Settings& settings);

// Checks versions and ciphers without reading files, for settings while TLS is not in use. A
// refusal is human-readable.
absl::Status CheckTls(const Settings& settings);

// Whether the two settings have the same TLS options.
bool SameTls(const Settings& a, const Settings& b);

}  // namespace zsetd
