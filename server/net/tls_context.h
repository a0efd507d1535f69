#pragma once

#include <openssl/ssl.h>

#include <memory>

#include "absl/status/status.h"
#include "server/engine/config/settings.h"

namespace zsetd {

// Shared by all TLS connections: the certificate, the authorities of clients, protocol versions and
// ciphers. Connections that were made with it keep it.
using TlsContext = std::shared_ptr<SSL_CTX>;

// Reads the files of the settings. An error is human-readable; `context` is unchanged then.
absl::Status MakeTlsContext(const Settings& settings, TlsContext& context);

// Like `MakeTlsContext()`, but for connections that this server opens. The other side must have a
// certificate of the authorities of the settings. This server shows its certificate for such
// connections, or else its own, if there is one. As in Redis the name in the other side's
// certificate is not compared with anything.
absl::Status MakeTlsClientContext(const Settings& settings, TlsContext& context);

// Whether the files for connections that this server opens can be read, if the settings name a
// certificate for these alone. A refusal is human-readable.
absl::Status CheckTlsClientFiles(const Settings& settings);

// Checks versions and ciphers without reading files, for settings while TLS is not in use. A
// refusal is human-readable.
absl::Status CheckTls(const Settings& settings);

// Whether the two settings have the same TLS options.
bool SameTls(const Settings& a, const Settings& b);

}  // namespace zsetd
