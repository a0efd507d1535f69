#include "server/net/engine_gate.h"

#include <utility>

namespace zsetd {

void EngineGate::Leave(Micros now) {
  Unlock(now);
  if (outside_) [[unlikely]]
    outside_();
}

void EngineGate::Unlock(Micros now) {
  if (signals_.empty()) [[likely]]
    return lock_.Unlock(now);
  const auto signals = std::exchange(signals_, {});
  lock_.Unlock(now);
  for (const WakeSignal* signal : signals) signal->Send();
}

EngineLock::SharedTurn EngineGate::Downgrade(Micros now) {
  const auto signals = std::exchange(signals_, {});
  const EngineLock::SharedTurn turn = lock_.Downgrade(now);
  for (const WakeSignal* signal : signals) signal->Send();
  return turn;
}

}  // namespace zsetd
