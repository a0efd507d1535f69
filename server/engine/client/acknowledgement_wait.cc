#include "server/engine/client/acknowledgement_wait.h"

#include "server/engine/client/caller.h"
#include "server/engine/services/log_control.h"
#include "server/engine/services/replica_registry.h"
#include "server/engine/services/services.h"

namespace zsetd {

Acknowledgements AcknowledgementsOf(const Caller& caller, const Services& services) {
  const bool is_in_log = services.append_log->log_status().has_base &&
                         services.append_log->DurablePosition() >= caller.propagated_until;
  return {.own_logs = is_in_log ? 1 : 0,
          .replicas = services.replicas->CountAcknowledged(caller.streamed_until),
          .replica_logs = services.replicas->CountLogged(caller.streamed_until)};
}

bool AcknowledgementWait::LacksLog() const {
  return wanted_.own_logs > 0 && !services_.append_log->log_status().enabled;
}

void AcknowledgementWait::GiveUp(ReplyWriter& reply) const {
  if (LacksLog()) return reply.Error(kWaitLacksLog);
  Reply(reply, AcknowledgementsOf(caller_, services_));
}

bool AcknowledgementWait::IsAcknowledged() const {
  return LacksLog() || AcknowledgementsOf(caller_, services_).Reaches(wanted_);
}

}  // namespace zsetd
