#pragma once

namespace zsetd {

class AdminCall;

// CLUSTER SLOT-STATS.
void SlotStatistics(AdminCall& call);

}  // namespace zsetd
