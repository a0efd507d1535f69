#include "server/net/engine_gate.h"

#include <utility>

namespace zsetd {

void EngineGate::Leave(Micros now) {
  if (signals_.empty()) [[likely]]
    return lock_.Unlock(now);
  const auto signals = std::exchange(signals_, {});
  lock_.Unlock(now);
  for (const WakeSignal* signal : signals) signal->Send();
}

}  // namespace zsetd
