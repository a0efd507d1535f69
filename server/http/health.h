#pragma once

#include <string>

#include "server/http/metrics_snapshot.h"

namespace zsetd {

// Returns the reason why the server should not get requests now, or an empty text: it loads data,
// or it is a replica without a link to its master. Reads two sections of INFO, on the thread of the
// commands.
std::string WhyNotReady(const InfoSource& source);

}  // namespace zsetd
