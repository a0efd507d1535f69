#include "server/commands/connection/client_tracking_request.h"

#include <cstdint>
#include <string_view>

namespace zsetd {
namespace {

using Choice = TrackingMode::Choice;

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

// No key may be reported twice.
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

}  // namespace

TrackingRequest TakeTrackingRequest(Call& call) {
  TrackingRequest request;
  while (call.args.ok() && !call.args.AtEnd()) TakeOption(call, request);
  return request;
}

void CheckTracking(const Client& client, const TrackingRequest& request, ArgReader& args) {
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

}  // namespace zsetd
