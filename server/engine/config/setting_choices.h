#pragma once

#include <cassert>
#include <concepts>
#include <span>
#include <string_view>
#include <type_traits>

#include "server/engine/support/log.h"

// The settings that have a fixed choice of values: an enum for each, and the names of its values in
// their order, as the configuration spells them.
namespace zsetd {

inline constexpr std::string_view kLogLevels[] = {"debug", "verbose", "notice", "warning"};
constexpr std::span<const std::string_view> ChoicesOf(LogLevel) { return kLogLevels; }

enum class SyslogFacility {
  kUser,
  kLocal0,
  kLocal1,
  kLocal2,
  kLocal3,
  kLocal4,
  kLocal5,
  kLocal6,
  kLocal7,
};
inline constexpr std::string_view kSyslogFacilities[] = {
    "user", "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7"};
constexpr std::span<const std::string_view> ChoicesOf(SyslogFacility) { return kSyslogFacilities; }

// Which supervisor is expected to have started the server; kAuto: whichever the environment shows.
enum class Supervision { kNo, kUpstart, kSystemd, kAuto };
inline constexpr std::string_view kSupervisions[] = {"no", "upstart", "systemd", "auto"};
constexpr std::span<const std::string_view> ChoicesOf(Supervision) { return kSupervisions; }

// Whether clients need certificates.
enum class TlsAuthClients { kNo, kYes, kOptional };
inline constexpr std::string_view kTlsAuthClients[] = {"no", "yes", "optional"};
constexpr std::span<const std::string_view> ChoicesOf(TlsAuthClients) { return kTlsAuthClients; }

// The channel permissions of new users.
enum class AclPubsubDefault { kAllChannels, kResetChannels };
inline constexpr std::string_view kAclPubsubDefaults[] = {"allchannels", "resetchannels"};
constexpr std::span<const std::string_view> ChoicesOf(AclPubsubDefault) {
  return kAclPubsubDefaults;
}

// Which clients may use dangerous commands: none, all, or those on this machine.
enum class DangerousAccess { kNo, kYes, kLocal };
inline constexpr std::string_view kDangerousAccess[] = {"no", "yes", "local"};
constexpr std::span<const std::string_view> ChoicesOf(DangerousAccess) { return kDangerousAccess; }

// Which keys are evicted when memory is short: of those with a deadline, or of all.
enum class MaxmemoryPolicy {
  kVolatileLru,
  kVolatileLfu,
  kVolatileRandom,
  kVolatileTtl,
  kAllKeysLru,
  kAllKeysLfu,
  kAllKeysRandom,
  kNoEviction,
};
inline constexpr std::string_view kMaxmemoryPolicies[] = {
    "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl",
    "allkeys-lru",  "allkeys-lfu",  "allkeys-random",  "noeviction",
};
constexpr std::span<const std::string_view> ChoicesOf(MaxmemoryPolicy) {
  return kMaxmemoryPolicies;
}
constexpr bool IsLru(MaxmemoryPolicy policy) {
  return policy == MaxmemoryPolicy::kVolatileLru || policy == MaxmemoryPolicy::kAllKeysLru;
}
constexpr bool IsLfu(MaxmemoryPolicy policy) {
  return policy == MaxmemoryPolicy::kVolatileLfu || policy == MaxmemoryPolicy::kAllKeysLfu;
}

// When the append-only log is synced: each second, before the reply, or when the system does.
enum class AppendFsync { kEverySec, kAlways, kNo };
inline constexpr std::string_view kAppendFsync[] = {"everysec", "always", "no"};
constexpr std::span<const std::string_view> ChoicesOf(AppendFsync) { return kAppendFsync; }

// The handling of a replica's data while it loads that of its master: it is flushed before, or
// stays readable until the new data is loaded; or this depends on whether the replica has data.
enum class DisklessLoad { kDisabled, kOnEmptyDb, kSwapDb, kFlushBeforeLoad, kAlways };
inline constexpr std::string_view kDisklessLoads[] = {"disabled", "on-empty-db", "swapdb",
                                                      "flush-before-load", "always"};
constexpr std::span<const std::string_view> ChoicesOf(DisklessLoad) { return kDisklessLoads; }

// The oldest release of Redis that reads the append-only log and the stream of replicas.
enum class RedisRelease { k70, k74 };
inline constexpr std::string_view kRedisReleases[] = {"7.0", "7.4"};
constexpr std::span<const std::string_view> ChoicesOf(RedisRelease) { return kRedisReleases; }

// The host that clients of a cluster connect to: the address of a node, its name, or the host of
// the node that redirects them.
enum class ClusterEndpointType { kIp, kHostname, kUnknownEndpoint };
inline constexpr std::string_view kClusterEndpointTypes[] = {"ip", "hostname", "unknown-endpoint"};
constexpr std::span<const std::string_view> ChoicesOf(ClusterEndpointType) {
  return kClusterEndpointTypes;
}

template <class Type>
concept Choice = std::is_enum_v<Type> && requires(Type value) {
  { ChoicesOf(value) } -> std::same_as<std::span<const std::string_view>>;
};

// The name of a value.
constexpr std::string_view ChoiceName(Choice auto value) {
  assert(static_cast<size_t>(value) < ChoicesOf(value).size());
  return ChoicesOf(value)[static_cast<size_t>(value)];
}

}  // namespace zsetd
