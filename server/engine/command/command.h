#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "protocol/resp/args.h"

namespace zsetd {

class AdminCall;
class Call;
class Scripting;

// The properties of a command, as in COMMAND INFO; those from kDangerous on are not reported there.
enum CommandFlag : uint32_t {
  kWrite = 1u << 0,
  kReadOnly = 1u << 1,
  kDenyOom = 1u << 2,
  kAdmin = 1u << 3,
  kPubSub = 1u << 4,
  kNoScript = 1u << 5,
  kBlocking = 1u << 6,
  kLoading = 1u << 7,
  kStale = 1u << 8,
  kFast = 1u << 9,
  kNoAuth = 1u << 10,
  kNoMulti = 1u << 11,
  kMovableKeys = 1u << 12,
  kSkipMonitor = 1u << 13,
  kSkipSlowlog = 1u << 14,
  kNoAsyncLoading = 1u << 15,
  kAllowBusy = 1u << 16,
  kNoMandatoryKeys = 1u << 23,
  kDangerous = 1u << 17,               // an ACL category rather than a flag
  kNeedsDebugEnabled = 1u << 30,       // refused unless enable-debug-command permits it
  kNeedsModuleEnabled = 1u << 31,      // refused unless enable-module-command permits it
  kConnectionCategory = 1u << 29,      // another, for those that are not of that group
  kNotQueuedInMulti = 1u << 18,        // runs immediately in an open transaction
  kAllowedWhileSubscribed = 1u << 19,  // a RESP2 subscriber may run it
  kEndsTransaction = 1u << 20,         // drops the open transaction even if it is refused
  kMayReplicate = 1u << 22,            // no write, but CLIENT PAUSE WRITE postpones it like one
  kRunsTransaction = 1u << 21,         // runs the queued commands: it writes if one of them does
  kFailsUnsaved = 1u << 28,            // refused like a write while snapshots fail
  kNoTouch = 1u << 24,                 // finding a key does not count as a use of the key
  kAlwaysTouch = 1u << 27,             // counts as one, even after CLIENT NO-TOUCH
  kKeepsMemory = 1u << 26,             // the server stores its arguments for the client
  kSubcommand = 1u << 25,              // named like "client|list"; set by the command table
};

// The flags of a row that Command::request_flags may replace: those by which a script declares what
// it does.
inline constexpr uint32_t kDeclaredFlags = kWrite | kDenyOom | kStale | kMayReplicate;

enum class CommandGroup : uint8_t {
  kString,
  kBitmap,
  kHyperLogLog,
  kList,
  kHash,
  kSet,
  kSortedSet,
  kGeo,
  kStream,
  kGeneric,
  kTransactions,
  kPubSub,
  kConnection,
  kScripting,
  kServer,
  kCluster,
};

// Command::since of a command that Redis does not have: the version of zsetd that had it first.
inline constexpr std::string_view kZsetdOnly = "zsetd 0.1.0";

// An option and the number of its values, which may look like options themselves.
struct ValuedOption {
  std::string_view name;
  int values;
};

// Which arguments of a request are keys. Positions count from the command's name at 0; a negative
// `last` counts from the end. If `count_at` is set, that argument is the number of keys after it,
// in addition to first..last. The argument after each of `options`, which are searched from a
// position on, is a key as well; it is written, while the others are only read.
//
// If `other_options` are given, the search skips their values, and the last of repeated options
// counts. No rule describes such keys to clients: COMMAND INFO reports "unknown".
//
// `rest_option` is followed by keys up to the end of the request, in place of first..last, where an
// empty argument must stand. It is searched for as `options` with `other_options` are. Only the
// first of `rest_divisor` equal parts of those arguments are keys.
struct KeyPlaces {
  int first = 0;
  int last = 0;
  int step = 0;
  int count_at = 0;
  std::span<const std::string_view> options = {};
  int options_from = 0;
  std::span<const ValuedOption> other_options = {};
  std::string_view rest_option = {};
  int rest_divisor = 1;
  std::string_view last_option = {};  // a last word that a negative `last` does not count
  bool by_patterns = false;           // it reads other keys too, whose names depend on the data
  bool are_channels = false;  // named like keys, so that a cluster can place them, but no keys
};

// How a request uses its key where that depends on whether it has one of some options.
struct VariableUse {
  std::string_view with = {};  // empty: it does not depend on options
  std::string_view without = {};
  std::span<const std::string_view> options = {};
  size_t options_from = 0;

  // The words that may be options. Null: all from `options_from` on, so that a value counts, too.
  Args (*words_of)(Args argv) = nullptr;
};

// Which arguments of a request are channels that the user must be permitted to use.
enum class ChannelPlaces : uint8_t { kNone, kFirst, kAll, kAllPatterns };

inline constexpr KeyPlaces kNoKeys = {};
inline constexpr KeyPlaces kOneKey = {1, 1, 1};
inline constexpr KeyPlaces kTwoKeys = {1, 2, 1};
inline constexpr KeyPlaces kAllKeys = {1, -1, 1};
inline constexpr KeyPlaces kEveryOtherKey = {1, -1, 2};
inline constexpr KeyPlaces kOneShardChannel = {
    .first = 1, .last = 1, .step = 1, .are_channels = true};
inline constexpr KeyPlaces kShardChannels = {
    .first = 1, .last = -1, .step = 1, .are_channels = true};

// The function of a row. Its parameter type defines its access: a Call has the keys, arguments,
// reply and client; an AdminCall has the whole server. A call of it needs
// server/engine/admin_call.h.
class CommandFunction {
 public:
  constexpr CommandFunction() = default;
  constexpr CommandFunction(void (*run)(Call&)) : keys_only_(run) {}  // NOLINT: rows name functions
  constexpr CommandFunction(void (*run)(AdminCall&)) : admin_(run) {}  // NOLINT

  constexpr bool operator==(std::nullptr_t) const {
    return keys_only_ == nullptr && admin_ == nullptr;
  }
  void operator()(AdminCall& call) const;

  // Runs a function that takes a Call.
  void RunOnKeys(Call& call) const {
    assert(keys_only_ != nullptr);
    keys_only_(call);
  }

 private:
  void (*keys_only_)(Call&) = nullptr;
  void (*admin_)(AdminCall&) = nullptr;
};

// One row of the command table, with everything that is known about a command. A command with
// subcommands has a row of its own without a function, and one row for each of them, named
// "client|list".
struct Command {
  std::string_view name;  // in lower case
  CommandFunction run = {};
  int arity = 0;  // arguments, the name included; -n: at least n
  uint32_t flags = 0;
  KeyPlaces keys;
  int member_at = 0;      // which argument is a member of the sorted set at the first key; 0: none
  bool inspects = false;  // reads no keys, and changes only its client: the page may run it

  // Only looks up keys with Call::Find() or Keys::Find(), reads their values and replies: it may
  // run while other threads run such commands (port/concurrent_reads.h). Its function takes a Call.
  bool concurrent = false;

  CommandGroup group = CommandGroup::kGeneric;
  std::string_view since;         // the version of Redis that had it first, or kZsetdOnly
  std::string_view usage;         // the arguments: see usage_grammar.h
  std::string_view summary;       // one sentence
  std::string_view cost;          // such as "O(log(N))"
  std::string_view key_use = {};  // see key_specs.h; empty: derived from the flags
  VariableUse variable_use = {};
  std::string_view tips = {};   // for clients of clusters, proxies and caches, a space between them
  bool implies_asking = false;  // in a cluster: runs as if ASKING preceded it

  // Whether the first argument is the only key that any request for the row uses. Set by the
  // command table.
  bool has_one_key = false;

  ChannelPlaces channels = ChannelPlaces::kNone;

  // ACL categories in place of that of the group, a space between them.
  std::optional<std::string_view> categories = {};

  // The positions of arguments that may be secrets, in any request for the row, whatever the name
  // of the command, even in a malformed request. Null: no secrets. The slow log, MONITOR and all
  // other code that shows requests use it (redaction.h).
  std::vector<size_t> (*secrets)(Args argv) = nullptr;

  // Returns the flags of a request, where they depend on its arguments: a script or a function
  // declares kDeclaredFlags. The request fits the arity. Null: always `flags`.
  uint32_t (*request_flags)(const Command& row, Args argv, const Scripting& scripting) = nullptr;

  bool Has(CommandFlag flag) const { return (flags & flag) != 0; }
  bool HasAny(uint32_t any_of) const { return (flags & any_of) != 0; }
  bool IsSubcommand() const { return Has(kSubcommand); }
  bool AcceptsCount(size_t argv) const {
    return arity >= 0 ? argv == static_cast<size_t>(arity) : argv >= static_cast<size_t>(-arity);
  }
};

}  // namespace zsetd
