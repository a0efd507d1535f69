#pragma once

#include <string>
#include <vector>

#include "server/engine/call.h"
#include "server/engine/client/tracking_mode.h"

namespace zsetd {

// The arguments of CLIENT TRACKING as sent, with prefixes that may overlap.
struct TrackingRequest {
  TrackingMode mode;
  bool opt_in = false;
  bool opt_out = false;
  std::vector<std::string> prefixes;
};

// Takes the options behind ON or OFF, up to the end. What is wrong is kept as the reader's error.
TrackingRequest TakeTrackingRequest(Call& call);

// Refuses options that do not agree with each other, or with what the client has asked for already.
void CheckTracking(const Client& client, const TrackingRequest& request, ArgReader& args);

// The tracking mode of a client after the request, where `before` was its mode.
TrackingMode TrackingModeOf(const TrackingRequest& request, const TrackingMode& before);

}  // namespace zsetd
