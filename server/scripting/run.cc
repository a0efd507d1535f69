#include "server/scripting/run.h"

#include <utility>

#include "server/engine/call.h"

namespace zsetd {

ScriptRun::ScriptRun(Call& call, Target target)
    : engine_(call.engine),
      caller_(&call.client),
      target_(std::move(target)),
      session_(call.client, call.now()),
      started_at_(call.engine.host().stopwatch()) {
  session_.read_only = target_.read_only || target_.flags.Has(ScriptFlag::kNoWrites);
  session_.may_exceed_memory = target_.flags.Has(ScriptFlag::kAllowOom);
  session_.memory_was_short = call.engine.memory_is_short();
}

void ScriptRun::OnSuspended(const Call& call) {
  if (command_.empty()) command_.assign(call.argv().begin(), call.argv().end());
}

void ScriptRun::OnContinued(Call& call) { caller_ = &call.client; }

}  // namespace zsetd
