#include "server/scripting/interpreter/run.h"

#include <utility>

#include "server/engine/call.h"

namespace zsetd {

ScriptRun::ScriptRun(Engine& engine, Call& call, Target target, ScriptWorkspace& workspace)
    : engine_(engine),
      caller_(&call.caller),
      target_(std::move(target)),
      workspace_(workspace),
      started_at_(engine.clock().began_at()) {
  ScriptSession& session = workspace_.session;
  session.Begin(call.caller);
  session.read_only = target_.read_only || target_.flags.Has(ScriptFlag::kNoWrites);
  session.may_exceed_memory = target_.flags.Has(ScriptFlag::kAllowOom);
  session.memory_was_short = engine.store().LacksMemory();
  session.may_use_several_slots =
      target_.flags.is_compatible() || target_.flags.Has(ScriptFlag::kAllowCrossSlotKeys);
}

void ScriptRun::OnSuspended(const Call& call) {
  if (command_.empty()) command_.assign(call.argv().begin(), call.argv().end());
}

void ScriptRun::OnContinued(Call& call) { caller_ = &call.caller; }

}  // namespace zsetd
