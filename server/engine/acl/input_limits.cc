#include "server/engine/acl/input_limits.h"

#include <algorithm>
#include <cstddef>

#include "server/engine/client/client_memory.h"

namespace zsetd {
namespace {

constexpr size_t kMostOfStrangers = 1u << 20;  // as Redis

}  // namespace

RequestLimits RequestLimitsFor(const Client& client, const Settings& settings,
                               const AccessControl& access) {
  RequestLimits limits;
  limits.max_bulk_bytes =
      std::min(static_cast<size_t>(settings.proto_max_bulk_len), kMostStringBytes);
  limits.unauthenticated = access.MustAuthenticate(client);
  return limits;
}

bool SendsTooMuch(const Client& client, const Settings& settings, const AccessControl& access) {
  const size_t kept = client.connection.input_bytes + TransactionBytes(client);
  if (kept > static_cast<size_t>(settings.client_query_buffer_limit)) return true;
  return kept > kMostOfStrangers && access.MustAuthenticate(client);
}

bool LeavesTooMuchUnread(const Client& client, const AccessControl& access) {
  return client.output.UnsentBytes() > kMostOfStrangers && access.MustAuthenticate(client);
}

}  // namespace zsetd
