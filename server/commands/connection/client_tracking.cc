#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "server/commands/connection/families.h"
#include "server/engine/acl/client_description.h"
#include "server/engine/admin_call.h"
#include "server/engine/client/tracking_mode.h"
#include "server/engine/support/ascii_case.h"

namespace zsetd {
namespace {

using Choice = TrackingMode::Choice;

// The arguments of CLIENT TRACKING as sent. The prefixes may overlap.
struct TrackingRequest {
  TrackingMode mode;
  bool opt_in = false;
  bool opt_out = false;
  std::vector<std::string> prefixes;
};

void TakeRedirect(AdminCall& call, TrackingMode& mode) {
  if (mode.redirect != 0) {
    call.args.Refuse("ERR A client can only redirect to a single other client");
  }
  mode.redirect = static_cast<uint64_t>(call.args.Integer());
  if (!call.engine.clients().all().contains(mode.redirect)) {
    call.args.Refuse("ERR The client ID you want redirect to does not exist");
  }
}

void TakeTrackingOption(AdminCall& call, TrackingRequest& request) {
  const bool has_value = call.args.left() > 1;
  if (has_value && call.args.Take("redirect")) {
    TakeRedirect(call, request.mode);
  } else if (has_value && call.args.Take("prefix")) {
    request.prefixes.emplace_back(call.args.Word());
  } else if (call.args.Take("bcast")) {
    request.mode.broadcast = true;
  } else if (call.args.Take("optin")) {
    request.opt_in = true;
  } else if (call.args.Take("optout")) {
    request.opt_out = true;
  } else if (call.args.Take("noloop")) {
    request.mode.no_loop = true;
  } else {
    call.args.Refuse(kSyntaxError);
  }
}

std::string OverlapError(const std::string& prefix, std::string_view kind,
                         const std::string& other) {
  return "ERR Prefix '" + prefix + "' overlaps with " + std::string(kind) + " prefix '" + other +
         "'. Prefixes for a single client must not overlap.";
}

bool Overlap(std::string_view a, std::string_view b) {
  return a.starts_with(b) || b.starts_with(a);
}

// Returns the first of `prefixes` that overlaps with `prefix`, or null. Except for the empty prefix
// they do not overlap with each other, so only three can overlap with it: the empty one, the last
// one before `prefix`, and the next one.
const std::string* FindOverlap(const std::set<std::string>& prefixes, const std::string& prefix) {
  if (prefixes.empty()) return nullptr;
  if (prefixes.begin()->empty()) return &*prefixes.begin();
  const auto next = prefixes.lower_bound(prefix);
  if (next != prefixes.begin() && prefix.starts_with(*std::prev(next))) return &*std::prev(next);
  return next != prefixes.end() && next->starts_with(prefix) ? &*next : nullptr;
}

// Returns the lowest index of a prefix that overlaps with another, or the number of prefixes if
// none does. In sorted order, all prefixes that begin with another one follow it directly. O(n log
// n).
size_t FirstOverlapping(const std::vector<std::string>& prefixes) {
  std::vector<size_t> order(prefixes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(
      order, {}, [&](size_t i) -> const auto& { return prefixes[i]; });
  size_t first = prefixes.size();
  size_t shortest = 0;  // index in `order` of the prefix with which the next one may overlap
  for (size_t at = 1; at < order.size(); ++at) {
    if (prefixes[order[at]].starts_with(prefixes[order[shortest]])) {
      first = std::min({first, order[shortest], order[at]});
    } else {
      shortest = at;
    }
  }
  return first;
}

// Refuses overlapping prefixes, because an invalidation of a key must not be sent twice. As in
// Redis, the error names the first overlapping prefix and the first one with which it overlaps.
void CheckOverlaps(const std::set<std::string>& existing, const std::vector<std::string>& prefixes,
                   ArgReader& args) {
  const size_t overlapping = FirstOverlapping(prefixes);
  for (size_t i = 0; i < prefixes.size(); ++i) {
    if (const std::string* const other = FindOverlap(existing, prefixes[i])) {
      return args.Refuse(OverlapError(prefixes[i], "an existing", *other));
    }
    if (i != overlapping) continue;
    const auto other = std::find_if(prefixes.begin() + i + 1, prefixes.end(),
                                    [&](const auto& each) { return Overlap(prefixes[i], each); });
    return args.Refuse(OverlapError(prefixes[i], "another provided", *other));
  }
}

void CheckPrefixes(const Client& client, const std::vector<std::string>& prefixes,
                   ArgReader& args) {
  const std::set<std::string>& existing = client.tracking().prefixes;
  if (prefixes.size() >
      Tracking::kMostPrefixes - std::min(existing.size(), Tracking::kMostPrefixes)) {
    args.Refuse("ERR Too many prefixes, a client may have " +
                std::to_string(Tracking::kMostPrefixes));
  }
  const auto is_too_long = [](const auto& each) {
    return each.size() > Tracking::kMostPrefixBytes;
  };
  if (std::ranges::any_of(prefixes, is_too_long)) {
    args.Refuse("ERR Prefix is too long, it may have " +
                std::to_string(Tracking::kMostPrefixBytes) + " bytes");
  }
  if (args.ok()) CheckOverlaps(existing, prefixes, args);
}

// Takes the options after ON or OFF. The reader keeps an error.
TrackingRequest TakeTrackingRequest(AdminCall& call) {
  TrackingRequest request;
  while (call.args.ok() && !call.args.AtEnd()) TakeTrackingOption(call, request);
  return request;
}

// Refuses options that contradict each other or the client's current mode.
void CheckTracking(const Client& client, const TrackingRequest& request, ArgReader& args) {
  const TrackingMode& now = client.tracking();
  const auto refuse_if = [&](bool wrong, std::string_view error) {
    if (wrong) args.Refuse(error);
  };
  const bool broadcast = request.mode.broadcast;
  refuse_if(!broadcast && !request.prefixes.empty(),
            "ERR PREFIX option requires BCAST mode to be enabled");
  refuse_if(now.on && now.broadcast != broadcast,
            "ERR You can't switch BCAST mode on/off before disabling tracking for this client, and "
            "then re-enabling it with a different mode.");
  refuse_if(broadcast && (request.opt_in || request.opt_out),
            "ERR OPTIN and OPTOUT are not compatible with BCAST");
  refuse_if(request.opt_in && request.opt_out,
            "ERR You can't specify both OPTIN mode and OPTOUT mode");
  refuse_if((request.opt_in && now.choice == Choice::kOptOut) ||
                (request.opt_out && now.choice == Choice::kOptIn),
            "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and "
            "then re-enabling it with a different mode.");
  if (broadcast) CheckPrefixes(client, request.prefixes, args);
}

// Returns the tracking mode of a client after the request. `before` is its current mode.
TrackingMode TrackingModeOf(const TrackingRequest& request, const TrackingMode& before) {
  TrackingMode mode = request.mode;
  mode.on = true;
  mode.choice = request.opt_in    ? Choice::kOptIn
                : request.opt_out ? Choice::kOptOut
                                  : Choice::kAllRead;
  mode.prefixes = {request.prefixes.begin(), request.prefixes.end()};
  if (mode.broadcast && mode.prefixes.empty()) mode.prefixes.insert("");  // every key
  mode.next_is_exception = before.next_is_exception;
  return mode;
}

void SetTracking(AdminCall& call) {
  const std::string_view state = call.args.Word();
  const TrackingRequest request = TakeTrackingRequest(call);
  const bool on = EqualsIgnoringCase(state, "on");
  if (on) CheckTracking(call.client(), request, call.args);
  if (!on && !EqualsIgnoringCase(state, "off")) call.args.Refuse(kSyntaxError);
  if (call.Refused()) return;
  if (on) {
    call.engine.notifier().StartTracking(call.client(),
                                         TrackingModeOf(request, call.client().tracking()));
  } else {
    call.engine.notifier().StopTracking(call.client());
  }
  call.reply.Ok();
}

// Sets whether the next command is an exception from the client's mode.
void Caching(AdminCall& call) {
  const TrackingMode& mode = call.client().tracking();
  if (!mode.on) {
    return call.Fail(
        "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or "
        "OPTOUT mode enabled");
  }
  const bool yes = call.args.Take("yes");
  if (!yes && !call.args.Take("no")) return call.Fail(kSyntaxError);
  if (yes && mode.choice != Choice::kOptIn) {
    return call.Fail(
        "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.");
  }
  if (!yes && mode.choice != Choice::kOptOut) {
    return call.Fail(
        "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.");
  }
  Tracking::SetException(call.client(), true);
  call.reply.Ok();
}

std::vector<std::string_view> Flags(const TrackingMode& mode) {
  std::vector<std::string_view> flags = {mode.on ? "on" : "off"};
  if (mode.broadcast) flags.push_back("bcast");
  if (mode.choice == Choice::kOptIn) {
    flags.push_back("optin");
    if (mode.next_is_exception) flags.push_back("caching-yes");
  }
  if (mode.choice == Choice::kOptOut) {
    flags.push_back("optout");
    if (mode.next_is_exception) flags.push_back("caching-no");
  }
  if (mode.no_loop) flags.push_back("noloop");
  if (mode.redirect_broken) flags.push_back("broken_redirect");
  return flags;
}

void TrackingInfo(AdminCall& call) {
  const TrackingMode& mode = call.client().tracking();
  const std::vector<std::string_view> flags = Flags(mode);
  call.reply.Map(3);
  call.reply.Bulk("flags");
  call.reply.Set(flags.size());
  for (const std::string_view flag : flags) call.reply.Bulk(flag);
  call.reply.Bulk("redirect");
  call.reply.Integer(RedirectOf(call.client()));
  call.reply.Bulk("prefixes");
  call.reply.Array(mode.prefixes.size());
  for (const std::string& prefix : mode.prefixes) call.reply.Bulk(prefix);
}

void GetRedirect(AdminCall& call) { call.reply.Integer(RedirectOf(call.client())); }

constexpr uint32_t kTrackingFlags = kNoScript | kLoading | kStale;

constexpr Command kClientTrackingCommands[] = {
    {.name = "client|caching",
     .run = Caching,
     .arity = 3,
     .flags = kTrackingFlags,
     .group = CommandGroup::kConnection,
     .since = "6.0.0",
     .usage = "<YES|NO>",
     .summary = "Enables or disables tracking for the next command, in OPTIN or OPTOUT mode.",
     .cost = "O(1)"},
    {.name = "client|getredir",
     .run = GetRedirect,
     .arity = 2,
     .flags = kTrackingFlags,
     .group = CommandGroup::kConnection,
     .since = "6.0.0",
     .summary = "Returns the ID of the client that receives this one's invalidation messages.",
     .cost = "O(1)"},
    {.name = "client|tracking",
     .run = SetTracking,
     .arity = -3,
     .flags = kTrackingFlags | kKeepsMemory,
     .group = CommandGroup::kConnection,
     .since = "6.0.0",
     .usage = "<ON|OFF> [REDIRECT client-id] [PREFIX prefix [PREFIX prefix ...]] [BCAST] [OPTIN] "
              "[OPTOUT] [NOLOOP]",
     .summary = "Enables or disables server-assisted client-side caching.",
     .cost = "O(1); with prefixes O(N*log(N)) for N of them"},
    {.name = "client|trackinginfo",
     .run = TrackingInfo,
     .arity = 2,
     .flags = kTrackingFlags,
     .group = CommandGroup::kConnection,
     .since = "6.2.0",
     .summary = "Returns the connection's client-side caching settings.",
     .cost = "O(N) for N prefixes"},
};

}  // namespace

std::span<const Command> ClientTrackingCommands() { return kClientTrackingCommands; }

}  // namespace zsetd
