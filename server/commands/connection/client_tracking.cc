#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/commands/all_commands.h"
#include "server/commands/connection/client_tracking_request.h"
#include "server/engine/acl/client_description.h"
#include "server/engine/call.h"
#include "server/engine/support/ascii_case.h"

namespace zsetd {
namespace {

using Choice = TrackingMode::Choice;

void SetTracking(Call& call) {
  const std::string_view state = call.args.Word();
  const TrackingRequest request = TakeTrackingRequest(call);
  const bool on = EqualsIgnoringCase(state, "on");
  if (on) CheckTracking(call.client, request, call.args);
  if (!on && !EqualsIgnoringCase(state, "off")) call.args.Refuse(kSyntaxError);
  if (call.Refused()) return;
  if (on) {
    call.engine.StartTracking(call.client, TrackingModeOf(request, call.client.tracking));
  } else {
    call.engine.StopTracking(call.client);
  }
  call.reply.Ok();
}

// Whether the next command is an exception from the client's mode.
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
     .summary = "Enables or disables tracking for the next command, in OPTIN or OPTOUT mode.",
     .cost = "O(1)"},
    {.name = "client|getredir",
     .run = GetRedirect,
     .arity = 2,
     .flags = kFlags,
     .group = CommandGroup::kConnection,
     .since = "6.0.0",
     .summary = "Returns the ID of the client that receives this one's invalidation messages.",
     .cost = "O(1)"},
    {.name = "client|tracking",
     .run = SetTracking,
     .arity = -3,
     .flags = kFlags | kKeepsMemory,
     .group = CommandGroup::kConnection,
     .since = "6.0.0",
     .usage = "<ON|OFF> [REDIRECT client-id] [PREFIX prefix [PREFIX prefix ...]] [BCAST] [OPTIN] "
              "[OPTOUT] [NOLOOP]",
     .summary = "Enables or disables server-assisted client-side caching.",
     .cost = "O(1); with prefixes O(N*log(N)) for N of them"},
    {.name = "client|trackinginfo",
     .run = TrackingInfo,
     .arity = 2,
     .flags = kFlags,
     .group = CommandGroup::kConnection,
     .since = "6.2.0",
     .summary = "Returns the connection's client-side caching settings.",
     .cost = "O(N) for N prefixes"},
};

}  // namespace

std::span<const Command> ClientTrackingCommands() { return kCommands; }

}  // namespace zsetd
