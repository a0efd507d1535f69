#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/commands/families.h"
#include "server/engine/call.h"
#include "server/engine/client_line.h"

namespace zsetd {
namespace {

using Choice = TrackingMode::Choice;

// What CLIENT TRACKING asks for, as it is said: with prefixes that may contradict each other.
struct TrackingRequest {
  TrackingMode mode;
  bool opt_in = false;
  bool opt_out = false;
  std::vector<std::string> prefixes;
};

void TakeRedirect(Call& call, TrackingMode& mode) {
  if (mode.redirect != 0) {
    call.args.Refuse("ERR A client can only redirect to a single other client");
  }
  mode.redirect = static_cast<uint64_t>(call.args.Integer());
  if (!call.engine.clients().contains(mode.redirect)) {
    call.args.Refuse("ERR The client ID you want redirect to does not exist");
  }
}

void TakeOption(Call& call, TrackingRequest& request) {
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

bool Overlap(std::string_view a, std::string_view b) {
  return a.starts_with(b) || b.starts_with(a);
}

std::string OverlapError(const std::string& prefix, std::string_view kind,
                         const std::string& other) {
  return "ERR Prefix '" + prefix + "' overlaps with " + std::string(kind) + " prefix '" + other +
         "'. Prefixes for a single client must not overlap.";
}

// No key may be told twice.
void CheckPrefixes(const Client& client, const std::vector<std::string>& prefixes,
                   ArgReader& args) {
  for (size_t i = 0; i < prefixes.size(); ++i) {
    for (const std::string& other : client.tracking.prefixes) {
      if (Overlap(prefixes[i], other)) {
        args.Refuse(OverlapError(prefixes[i], "an existing", other));
      }
    }
    for (size_t j = i + 1; j < prefixes.size(); ++j) {
      if (Overlap(prefixes[i], prefixes[j])) {
        args.Refuse(OverlapError(prefixes[i], "another provided", prefixes[j]));
      }
    }
  }
}

// Whether the options agree with each other, and with what the client has asked for already.
void Check(const Client& client, const TrackingRequest& request, ArgReader& args) {
  const TrackingMode& now = client.tracking;
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

TrackingMode ModeOf(const TrackingRequest& request, const TrackingMode& before) {
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

void SetTracking(Call& call) {
  const std::string_view state = call.args.Word();
  TrackingRequest request;
  while (call.args.ok() && !call.args.AtEnd()) TakeOption(call, request);
  const bool on = EqualsIgnoringCase(state, "on");
  if (on) Check(call.client, request, call.args);
  if (!on && !EqualsIgnoringCase(state, "off")) call.args.Refuse(kSyntaxError);
  if (call.Refused()) return;
  if (on) {
    call.engine.StartTracking(call.client, ModeOf(request, call.client.tracking));
  } else {
    call.engine.StopTracking(call.client);
  }
  call.reply.Ok();
}

// Whether the next command is to be an exception from what the client has chosen.
void Caching(Call& call) {
  TrackingMode& mode = call.client.tracking;
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
  mode.next_is_exception = true;
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

void TrackingInfo(Call& call) {
  const TrackingMode& mode = call.client.tracking;
  const std::vector<std::string_view> flags = Flags(mode);
  call.reply.Map(3);
  call.reply.Bulk("flags");
  call.reply.Set(flags.size());
  for (const std::string_view flag : flags) call.reply.Bulk(flag);
  call.reply.Bulk("redirect");
  call.reply.Integer(RedirectOf(call.client));
  call.reply.Bulk("prefixes");
  call.reply.Array(mode.prefixes.size());
  for (const std::string& prefix : mode.prefixes) call.reply.Bulk(prefix);
}

void GetRedirect(Call& call) { call.reply.Integer(RedirectOf(call.client)); }

constexpr uint32_t kFlags = kNoScript | kLoading | kStale;

constexpr Command kCommands[] = {
    {.name = "client|caching",
     .run = Caching,
     .arity = 3,
     .flags = kFlags,
     .group = CommandGroup::kConnection,
     .since = "6.0.0",
     .usage = "<YES|NO>",
     .summary = "Says whether the keys of the next command are to be tracked, by OPTIN or OPTOUT.",
     .cost = "O(1)"},
    {.name = "client|getredir",
     .run = GetRedirect,
     .arity = 2,
     .flags = kFlags,
     .group = CommandGroup::kConnection,
     .since = "6.0.0",
     .summary = "Tells which client is told of changed keys in this one's place.",
     .cost = "O(1)"},
    {.name = "client|tracking",
     .run = SetTracking,
     .arity = -3,
     .flags = kFlags,
     .group = CommandGroup::kConnection,
     .since = "6.0.0",
     .usage = "<ON|OFF> [REDIRECT client-id] [PREFIX prefix [PREFIX prefix ...]] [BCAST] [OPTIN] "
              "[OPTOUT] [NOLOOP]",
     .summary = "Has the client told when keys change that it may have cached.",
     .cost = "O(1); with prefixes O(N^2) for N of them"},
    {.name = "client|trackinginfo",
     .run = TrackingInfo,
     .arity = 2,
     .flags = kFlags,
     .group = CommandGroup::kConnection,
     .since = "6.2.0",
     .summary = "Tells which changes of keys the client is told of.",
     .cost = "O(N) for N prefixes"},
};

}  // namespace

std::span<const Command> ClientTrackingCommands() { return kCommands; }

}  // namespace zsetd
