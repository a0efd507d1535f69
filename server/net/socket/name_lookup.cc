#include "server/net/socket/name_lookup.h"

#include <netdb.h>

#include <atomic>
#include <cassert>
#include <cstring>
#include <thread>
#include <utility>

#include "server/net/socket/wake_signal.h"

namespace zsetd {

struct NameLookup::State {
  WakeSignal signal;
  std::atomic<bool> done = false;  // set last, after the other fields
  std::vector<NetworkAddress> addresses;
  std::string error;

  void Finish() {
    done = true;
    signal.Send();
  }
};

namespace {

// Returns true and adds the addresses if the lookup succeeds; otherwise sets `error`.
bool Look(const std::string& host, int port, int flags, std::vector<NetworkAddress>& addresses,
          std::string& error) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int result = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (result != 0) {
    error = "cannot look up " + host + ": " + gai_strerror(result);
    return false;
  }
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    NetworkAddress address = {.size = each->ai_addrlen};
    std::memcpy(&address.bytes, each->ai_addr, each->ai_addrlen);
    addresses.push_back(address);
  }
  freeaddrinfo(found);
  return true;
}

}  // namespace

NameLookup::NameLookup(const std::string& host, int port) : state_(std::make_shared<State>()) {
  if (Look(host, port, AI_NUMERICHOST, state_->addresses, state_->error)) {
    state_->Finish();
    return;
  }
  std::thread([state = state_, host, port] {
    if (Look(host, port, 0, state->addresses, state->error)) state->error.clear();
    state->Finish();
  }).detach();
}

int NameLookup::descriptor() const { return state_->signal.descriptor(); }
bool NameLookup::done() const { return state_->done; }

const std::vector<NetworkAddress>& NameLookup::addresses() const {
  assert(done());
  return state_->addresses;
}

const std::string& NameLookup::error() const {
  assert(done());
  return state_->error;
}

}  // namespace zsetd
