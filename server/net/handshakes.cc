#include "server/net/handshakes.h"

#include <chrono>
#include <utility>

#include "server/net/session.h"

namespace zsetd {
namespace {

constexpr std::chrono::seconds kHandshakeTime{10};

}  // namespace

void Handshakes::Add(std::weak_ptr<Session> session, Micros now) {
  by_deadline_.push_back({now + kHandshakeTime, std::move(session)});
}

void Handshakes::CloseLate(Micros now) {
  while (!by_deadline_.empty() && by_deadline_.front().until <= now) {
    const auto session = by_deadline_.front().session.lock();
    by_deadline_.pop_front();
    if (session) session->EndHandshake();
  }
}

}  // namespace zsetd
