#include "server/net/socket/tls_context.h"

#include <openssl/err.h>

#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

using Option = std::pair<std::string_view, uint64_t>;
constexpr Option kProtocols[] = {
    {"TLSv1", SSL_OP_NO_TLSv1},
    {"TLSv1.1", SSL_OP_NO_TLSv1_1},
    {"TLSv1.2", SSL_OP_NO_TLSv1_2},
    {"TLSv1.3", SSL_OP_NO_TLSv1_3},
};
constexpr std::string_view kUsualProtocols = "TLSv1.2 TLSv1.3";

const char* OrNull(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

// Returns the error that `what` failed, with OpenSSL's reason.
absl::Status TlsFailure(const std::string& what) {
  char reason[256] = "";
  ERR_error_string_n(ERR_get_error(), reason, sizeof(reason));
  ERR_clear_error();
  return Refusal(what + ": " + reason);
}

absl::Status SetProtocols(const std::string& setting, SSL_CTX* context) {
  uint64_t forbidden = 0;
  for (const auto& [name, option] : kProtocols) forbidden |= option;
  std::istringstream argv(setting.empty() ? std::string(kUsualProtocols) : setting);
  for (std::string word; argv >> word;) {
    uint64_t known = 0;
    for (const auto& [name, option] : kProtocols)
      known |= EqualsIgnoringCase(name, word) ? option : 0;
    if (known == 0) return Refusal("tls-protocols: " + word + " is not a version of TLS");
    forbidden &= ~known;
  }
  SSL_CTX_set_options(context, forbidden);
  return absl::OkStatus();
}

absl::Status SetCiphers(const Settings& settings, SSL_CTX* context) {
  if (!settings.tls_ciphers.empty() &&
      SSL_CTX_set_cipher_list(context, settings.tls_ciphers.c_str()) != 1) {
    return TlsFailure("tls-ciphers");
  }
  if (!settings.tls_ciphersuites.empty() &&
      SSL_CTX_set_ciphersuites(context, settings.tls_ciphersuites.c_str()) != 1) {
    return TlsFailure("tls-ciphersuites");
  }
  if (settings.tls_prefer_server_ciphers) {
    SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE);
  }
  return absl::OkStatus();
}

// Passes the password of a key to OpenSSL. Without this function OpenSSL would ask for it on the
// terminal.
int TellPassword(char* buffer, int size, int, void* password) {
  const auto& text = *static_cast<const std::string*>(password);
  if (text.size() > static_cast<size_t>(size)) return -1;
  text.copy(buffer, text.size());
  return static_cast<int>(text.size());
}

// The settings of one certificate, and their names.
struct CertificateFiles {
  std::string prefix;
  std::string certificate;
  std::string key;
  std::string password;
};

CertificateFiles ServerFiles(const Settings& settings) {
  return {"tls-", settings.tls_cert_file, settings.tls_key_file, settings.tls_key_file_pass};
}

// Whether there is a certificate for connections that this server opens. As in Redis, a certificate
// without a key does not count, because the two settings may be changed one after the other.
bool HasClientFiles(const Settings& settings) {
  return !settings.tls_client_cert_file.empty() && !settings.tls_client_key_file.empty();
}

CertificateFiles ClientFiles(const Settings& settings) {
  if (!HasClientFiles(settings)) return ServerFiles(settings);
  return {"tls-client-", settings.tls_client_cert_file, settings.tls_client_key_file,
          settings.tls_client_key_file_pass};
}

absl::Status LoadCertificate(CertificateFiles files, SSL_CTX* context) {
  const std::string certificate_name = files.prefix + "cert-file";
  const std::string key_name = files.prefix + "key-file";
  if (files.certificate.empty()) return Refusal(certificate_name + ": there is no certificate");
  if (files.key.empty()) return Refusal(key_name + ": there is no key");
  SSL_CTX_set_default_passwd_cb(context, TellPassword);
  SSL_CTX_set_default_passwd_cb_userdata(context, &files.password);
  if (SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1) {
    return TlsFailure(certificate_name + " " + files.certificate);
  }
  if (SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return TlsFailure(key_name + " " + files.key);
  }
  SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);  // only these calls use it
  return absl::OkStatus();
}

// Loads the authorities that must have signed the other side's certificate.
absl::Status LoadAuthorities(const Settings& settings, SSL_CTX* context) {
  const char* file = OrNull(settings.tls_ca_cert_file);
  const char* folder = OrNull(settings.tls_ca_cert_dir);
  if (SSL_CTX_load_verify_locations(context, file, folder) == 1) return absl::OkStatus();
  return TlsFailure("tls-ca-cert-file " + settings.tls_ca_cert_file + ", tls-ca-cert-dir " +
                    settings.tls_ca_cert_dir);
}

bool HasAuthorities(const Settings& settings) {
  return !settings.tls_ca_cert_file.empty() || !settings.tls_ca_cert_dir.empty();
}

absl::Status SetClientChecks(const Settings& settings, SSL_CTX* context) {
  if (settings.tls_auth_clients == TlsAuthClients::kNo) return absl::OkStatus();
  if (!HasAuthorities(settings)) {
    return Refusal(
        "tls-auth-clients: either tls-ca-cert-file or tls-ca-cert-dir is required to "
        "verify clients");
  }
  if (absl::Status status = LoadAuthorities(settings, context); !status.ok()) return status;
  const bool needed = settings.tls_auth_clients == TlsAuthClients::kYes;
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | (needed ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
                     nullptr);
  return absl::OkStatus();
}

// Disables the resumption of sessions, because a resumed session skips the check of the client's
// certificate.
void SetModes(SSL_CTX* context) {
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}

}  // namespace

absl::Status MakeTlsContext(const Settings& settings, TlsContext& context) {
  ERR_clear_error();
  const TlsContext made(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (made == nullptr) return TlsFailure("OpenSSL");
  SetModes(made.get());
  absl::Status status = SetProtocols(settings.tls_protocols, made.get());
  if (status.ok()) status = SetCiphers(settings, made.get());
  if (status.ok()) status = LoadCertificate(ServerFiles(settings), made.get());
  if (status.ok()) status = SetClientChecks(settings, made.get());
  if (status.ok()) context = made;
  return status;
}

absl::Status MakeTlsClientContext(const Settings& settings, TlsContext& context) {
  if (!HasAuthorities(settings)) {
    return Refusal(
        "either tls-ca-cert-file or tls-ca-cert-dir is required to verify other servers");
  }
  ERR_clear_error();
  const TlsContext made(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  if (made == nullptr) return TlsFailure("OpenSSL");
  SetModes(made.get());
  SSL_CTX_set_verify(made.get(), SSL_VERIFY_PEER, nullptr);
  absl::Status status = SetProtocols(settings.tls_protocols, made.get());
  if (status.ok()) status = SetCiphers(settings, made.get());
  if (status.ok()) status = LoadAuthorities(settings, made.get());
  const CertificateFiles files = ClientFiles(settings);
  if (status.ok() && !files.certificate.empty()) status = LoadCertificate(files, made.get());
  if (status.ok()) context = made;
  return status;
}

absl::Status CheckTlsClientFiles(const Settings& settings) {
  if (!HasClientFiles(settings)) return absl::OkStatus();
  ERR_clear_error();
  const TlsContext made(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  if (made == nullptr) return TlsFailure("OpenSSL");
  return LoadCertificate(ClientFiles(settings), made.get());
}

absl::Status CheckTls(const Settings& settings) {
  if (settings.tls_protocols.empty() && settings.tls_ciphers.empty() &&
      settings.tls_ciphersuites.empty()) {
    return absl::OkStatus();
  }
  ERR_clear_error();
  const TlsContext made(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (made == nullptr) return TlsFailure("OpenSSL");
  const absl::Status status = SetProtocols(settings.tls_protocols, made.get());
  return status.ok() ? SetCiphers(settings, made.get()) : status;
}

bool SameTls(const Settings& a, const Settings& b) {
  const auto of = [](const Settings& s) {
    return std::tie(s.tls_cert_file, s.tls_key_file, s.tls_key_file_pass, s.tls_client_cert_file,
                    s.tls_client_key_file, s.tls_client_key_file_pass, s.tls_ca_cert_file,
                    s.tls_ca_cert_dir, s.tls_auth_clients, s.tls_protocols, s.tls_ciphers,
                    s.tls_ciphersuites, s.tls_prefer_server_ciphers, s.tls_files_named);
  };
  return of(a) == of(b);
}

}  // namespace zsetd
