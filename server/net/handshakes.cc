#include "server/net/handshakes.h"

#include <cassert>
#include <chrono>

#include "server/net/session.h"

namespace zsetd {
namespace {

constexpr std::chrono::seconds kHandshakeTime{10};

}  // namespace

void Handshakes::Add(uint64_t client_id, Session& session, Micros now) {
  assert(by_id_.empty() || by_id_.rbegin()->first < client_id);
  by_id_.emplace_hint(by_id_.end(), client_id, Handshake{now + kHandshakeTime, &session});
}

// The end of a session removes its entry, and what keeps the session.
void Handshakes::CloseLate(Micros now) {
  while (!by_id_.empty() && by_id_.begin()->second.until <= now) {
    const auto session = by_id_.begin()->second.session->shared_from_this();
    by_id_.erase(by_id_.begin());
    session->EndHandshake();
  }
}

}  // namespace zsetd
