#include "server/engine/config/settings_without_effect.h"

#include <algorithm>

#include "core/util/glob.h"
#include "protocol/text/number_text.h"
#include "server/engine/config/setting_checks.h"
#include "server/engine/config/setting_limits.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/port_limit.h"
#include "server/engine/support/split.h"

namespace zsetd {
namespace {

using Choices = std::span<const std::string_view>;

constexpr std::string_view kOomAdjustment[] = {"no", "yes", "relative", "absolute"};
constexpr std::string_view kSanitize[] = {"no", "yes", "clients"};
constexpr std::string_view kPropagationErrors[] = {"ignore", "panic", "panic-on-replicas"};
constexpr std::string_view kVersionChecks[] = {"strict", "relaxed"};
constexpr std::string_view kLogFormats[] = {"legacy", "logfmt"};
constexpr std::string_view kLogTimes[] = {"legacy", "iso8601", "milliseconds"};
constexpr std::string_view kCertificateUsers[] = {"off", "CN", "URI"};

// Values of rows that may change while the server runs; others are AtStart().
constexpr Setting Ignored(std::string_view name, NoEffect::Kind kind, std::string_view value,
                          std::string_view alias) {
  return {.name = name, .alias = alias, .field = NoEffect{kind, value}, .changes_live = true};
}

constexpr Setting YesNo(std::string_view name, std::string_view value,
                        std::string_view alias = {}) {
  return Ignored(name, NoEffect::Kind::kYesNo, value, alias);
}

constexpr Setting IgnoredText(std::string_view name, std::string_view value = {},
                              std::string_view alias = {}) {
  return Ignored(name, NoEffect::Kind::kText, value, alias);
}

constexpr Setting IgnoredChoice(std::string_view name, std::string_view value, Choices choices) {
  Setting row = IgnoredText(name, value);
  row.choices = choices;
  return row;
}

constexpr Setting Number(std::string_view name, std::string_view value, int64_t min, int64_t max,
                         std::string_view alias = {}) {
  Setting row = Ignored(name, NoEffect::Kind::kInteger, value, alias);
  row.min = min;
  row.max = max;
  return row;
}

constexpr Setting Size(std::string_view name, std::string_view value, int64_t min = 0) {
  Setting row = Number(name, value, min, kMaxSize);
  row.is_size = true;
  return row;
}

constexpr Setting Only(Setting row, std::string_view why) {
  row.why_no_other = why;
  return row;
}

constexpr Setting ManyWords(Setting row) {
  row.many_words = true;
  return row;
}

constexpr Setting Checked(Setting row, absl::Status (*check)(std::string_view)) {
  row.check = check;
  return row;
}

constexpr Setting AtStart(Setting row) {
  row.changes_live = false;
  return row;
}

absl::Status CheckOomValues(std::string_view value) {
  constexpr size_t kCount = 3;  // a master, a replica, and what saves in the background
  constexpr int64_t kMost = 2000;
  const std::vector<std::string_view> words = Split(value, ' ');
  if (words.size() != kCount) return Refusal("wrong number of arguments");
  for (const std::string_view word : words) {
    const std::optional<int64_t> number = ParseInteger(word);
    if (number && *number >= -kMost && *number <= kMost) continue;
    return Refusal("Invalid oom-score-adj-values, elements must be between -2000 and 2000.");
  }
  return absl::OkStatus();
}

constexpr Setting kRows[] = {
    // Snapshots.
    IgnoredChoice("rdb-version-check", "strict", kVersionChecks),
    IgnoredChoice("sanitize-dump-payload", "no", kSanitize),
    Number("rdb-key-save-delay", "0", kMinInt, kMaxInt),
    Number("key-load-delay", "0", kMinInt, kMaxInt),
    Number("loading-process-events-interval-bytes", "2097152", 1024, kMaxInt),

    // The append-only file.
    YesNo("aof-use-rdb-preamble", "yes"),
    YesNo("aof-disable-auto-gc", "no"),

    // Replication.
    YesNo("repl-rdb-channel", "no"),
    YesNo("repl-mptcp", "no"),
    YesNo("dual-channel-replication-enabled", "no"),
    YesNo("replica-lazy-flush", "no", "slave-lazy-flush"),
    YesNo("replica-ignore-disk-write-errors", "no"),
    Size("replica-full-sync-buffer-limit", "0"),
    IgnoredChoice("propagation-error-behavior", "ignore", kPropagationErrors),
    YesNo("import-mode", "no"),

    // Clusters.
    IgnoredText("cluster-announce-client-ipv4"),
    IgnoredText("cluster-announce-client-ipv6"),
    Number("cluster-compatibility-sample-ratio", "0", 0, 100),
    AtStart(Number("cluster-databases", "1", 1, kMaxInt)),
    Number("cluster-message-gossip-perc", "10", 1, 100),
    IgnoredText("availability-zone"),

    // Threads and processors.
    AtStart(YesNo("io-threads-do-reads", "no")),
    Number("events-per-io-thread", "2", 0, kMaxInt),
    Number("prefetch-batch-max-size", "16", 0, 128),
    Number("lookahead", "16", 1, kMaxInt),
    AtStart(IgnoredText("server-cpulist", "", "server_cpulist")),
    AtStart(IgnoredText("bio-cpulist", "", "bio_cpulist")),
    AtStart(IgnoredText("aof-rewrite-cpulist", "", "aof_rewrite_cpulist")),
    AtStart(IgnoredText("bgsave-cpulist", "", "bgsave_cpulist")),

    // Connections.
    IgnoredText("bind-source-addr"),
    AtStart(Number("socket-mark-id", "0", 0, kMaxUnsigned)),
    AtStart(IgnoredText("unixsocketgroup")),
    AtStart(YesNo("mptcp", "no")),
    Number("max-new-connections-per-cycle", "10", 1, 1000),
    Number("max-new-tls-connections-per-cycle", "1", 1, 1000),
    IgnoredText("tls-dh-params-file"),
    YesNo("tls-session-caching", "yes"),
    Number("tls-session-cache-size", "20480", 0, kMaxInt),
    Number("tls-session-cache-timeout", "300", 0, kMaxInt),
    Only(IgnoredChoice("tls-auth-clients-user", "off", Choices(kCertificateUsers).first(1)),
         "certificates do not say who a client is here: the only value is off"),
    AtStart(Number("rdma-port", "0", 0, kMaxPort)),
    AtStart(ManyWords(IgnoredText("rdma-bind"))),
    AtStart(Size("rdma-rx-size", "1048576")),
    AtStart(Number("rdma-completion-vector", "-1", -1, kMaxInt)),

    // The process and its log.
    AtStart(YesNo("always-show-logo", "no")),
    AtStart(YesNo("set-proc-title", "yes")),
    IgnoredText("proc-title-template", "{title} {listen-addr} {server-mode}"),
    IgnoredChoice("oom-score-adj", "no", kOomAdjustment),
    ManyWords(Checked(IgnoredText("oom-score-adj-values", "0 200 800"), CheckOomValues)),
    AtStart(YesNo("disable-thp", "yes")),
    YesNo("crash-log-enabled", "yes"),
    YesNo("crash-memcheck-enabled", "yes"),
    YesNo("use-exit-on-panic", "no"),
    AtStart(YesNo("debug-assert-enabled", "no")),
    Number("watchdog-period", "0", 0, kMaxInt),
    IgnoredText("ignore-warnings"),
    YesNo("hide-user-data-from-log", "no"),
    IgnoredChoice("log-format", "legacy", kLogFormats),
    IgnoredChoice("log-timestamp-format", "legacy", kLogTimes),
    IgnoredText("locale-collate"),
    Number("commandlog-request-larger-than", "1048576", -1, kMaxSize),
    Number("commandlog-large-request-max-len", "128", 0, kMaxSize),
    Number("commandlog-reply-larger-than", "1048576", -1, kMaxSize),
    Number("commandlog-large-reply-max-len", "128", 0, kMaxSize),

    // Scripts, and value encodings that do not exist here.
    YesNo("lua-enable-insecure-api", "no"),
    YesNo("extended-redis-compatibility", "no"),

    // Memory.
    Number("active-defrag-cycle-min", "1", 1, 99),
    Number("active-defrag-cycle-max", "25", 1, 99),
    Number("active-defrag-cycle-us", "500", 0, 100'000),
    Number("active-defrag-threshold-lower", "10", 0, 1000),
    Number("active-defrag-threshold-upper", "100", 0, 1000),
    Size("active-defrag-ignore-bytes", "104857600", 1),
    Number("active-defrag-max-scan-fields", "1000", 1, kMaxSize),
    AtStart(YesNo("key-memory-histograms", "no")),
};

constexpr std::string_view kObsolete[] = {"list-max-ziplist-entries", "list-max-ziplist-value",
                                          "lua-replicate-commands"};

constexpr RefusedDirective kRefused[] = {
    {"loadmodule", "modules are not loaded"},
    {"sentinel", "zsetd is no Sentinel"},
    {"search-*", "it is a setting of a module, and modules are not loaded"},
    {"ts-*", "it is a setting of a module, and modules are not loaded"},
    {"bf-*", "it is a setting of a module, and modules are not loaded"},
    {"cf-*", "it is a setting of a module, and modules are not loaded"},
    {"vset-*", "it is a setting of vector sets, which zsetd does not have"},
    {"*.*", "it is a setting of a module, and modules are not loaded"},
};

}  // namespace

std::span<const Setting> SettingsWithoutEffect() { return kRows; }

std::span<const RefusedDirective> RefusedDirectives() { return kRefused; }
std::span<const std::string_view> ObsoleteDirectives() { return kObsolete; }

bool IsObsoleteDirective(std::string_view name) {
  return std::ranges::any_of(kObsolete,
                             [&](std::string_view each) { return EqualsIgnoringCase(each, name); });
}

const RefusedDirective* FindRefusedDirective(std::string_view name) {
  const auto* const found =
      std::ranges::find_if(kRefused, [&, lower = LowerCase(name)](const RefusedDirective& each) {
        return GlobMatches(each.name, lower);
      });
  return found == std::end(kRefused) ? nullptr : found;
}

}  // namespace zsetd
