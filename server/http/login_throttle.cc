#include "server/http/login_throttle.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace zsetd {
namespace {

constexpr Micros kPerFailure = std::chrono::seconds(5);
constexpr int kFreeFailures = 10;
constexpr size_t kMostLogins = 1024;

}  // namespace

Micros LoginThrottle::WaitFor(const Login& login, Micros now) const {
  const auto found = forgotten_at_.find(login.text());
  if (found == forgotten_at_.end()) return Micros(0);
  const Micros left = found->second - now;
  return std::max(left - (kFreeFailures - 1) * kPerFailure, Micros(0));
}

void LoginThrottle::OnFailure(const Login& login, Micros now) {
  if (forgotten_at_.size() >= kMostLogins && !forgotten_at_.contains(login.text())) MakeRoom(now);
  Micros& forgotten_at = forgotten_at_[login.text()];
  forgotten_at = std::max(forgotten_at, now) + kPerFailure;
}

// Removes the forgotten logins. If that is not enough, removes the half that would be forgotten
// first. O(1) amortized for each login that was added.
void LoginThrottle::MakeRoom(Micros now) {
  absl::erase_if(forgotten_at_, [&](const auto& each) { return each.second <= now; });
  if (forgotten_at_.size() < kMostLogins) return;
  std::vector<Micros> times;
  times.reserve(forgotten_at_.size());
  for (const auto& [login, forgotten_at] : forgotten_at_) times.push_back(forgotten_at);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  absl::erase_if(forgotten_at_, [&](const auto& each) { return each.second <= *middle; });
}

}  // namespace zsetd
