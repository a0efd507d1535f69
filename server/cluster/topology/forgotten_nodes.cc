#include "server/cluster/topology/forgotten_nodes.h"

namespace zsetd {

void ForgottenNodes::Add(const std::string& id, int64_t until) {
  const auto known = ends_.find(id);
  if (known != ends_.end()) {
    by_end_.erase({known->second, id});
  } else if (ends_.size() >= kMostForgottenNodes) {
    ends_.erase(by_end_.begin()->second);
    by_end_.erase(by_end_.begin());
  }
  ends_[id] = until;
  by_end_.emplace(until, id);
}

bool ForgottenNodes::Contains(std::string_view id, int64_t now) const {
  const auto known = ends_.find(id);
  return known != ends_.end() && known->second > now;
}

void ForgottenNodes::RemoveEnded(int64_t now) {
  while (!by_end_.empty() && by_end_.begin()->first <= now) {
    ends_.erase(by_end_.begin()->second);
    by_end_.erase(by_end_.begin());
  }
}

void ForgottenNodes::Clear() {
  ends_.clear();
  by_end_.clear();
}

}  // namespace zsetd
