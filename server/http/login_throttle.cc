#include "server/http/login_throttle.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace zsetd {
namespace {

constexpr Micros kPerFailure = std::chrono::seconds(5);
constexpr int kFreeFailures = 10;
constexpr size_t kMostAddresses = 1024;

}  // namespace

Micros LoginThrottle::WaitFor(const std::string& address, Micros now) const {
  const auto found = forgotten_at_.find(address);
  if (found == forgotten_at_.end()) return Micros(0);
  const Micros left = found->second - now;
  return std::max(left - (kFreeFailures - 1) * kPerFailure, Micros(0));
}

void LoginThrottle::OnFailure(const std::string& address, Micros now) {
  if (forgotten_at_.size() >= kMostAddresses && !forgotten_at_.contains(address)) MakeRoom(now);
  Micros& forgotten_at = forgotten_at_[address];
  forgotten_at = std::max(forgotten_at, now) + kPerFailure;
}

// Without those that are forgotten, or else the half that would be first. O(1) for each address
// that was added since the last time.
void LoginThrottle::MakeRoom(Micros now) {
  absl::erase_if(forgotten_at_, [&](const auto& each) { return each.second <= now; });
  if (forgotten_at_.size() < kMostAddresses) return;
  std::vector<Micros> times;
  times.reserve(forgotten_at_.size());
  for (const auto& [address, forgotten_at] : forgotten_at_) times.push_back(forgotten_at);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  absl::erase_if(forgotten_at_, [&](const auto& each) { return each.second <= *middle; });
}

}  // namespace zsetd
