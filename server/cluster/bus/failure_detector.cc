#include "server/cluster/bus/failure_detector.h"

namespace zsetd {
namespace {

constexpr int64_t kReportValidity = 2;  // node timeouts
constexpr int64_t kFailureLeast = 2;    // node timeouts for which a master with slots stays failed

}  // namespace

void FailureDetector::Suspect(ClusterNode& node) {
  if (!node.IsReachable()) return;
  node.may_have_failed = true;
  state_.must_check_state = true;
  if (state_.voting_masters == 1 && state_.Votes(state_.self())) FailIfAgreed(node);
}

void FailureDetector::TakeReport(ClusterNode& node, const ClusterNode& reporter) {
  const auto [report, is_new] = reports_[&node].insert_or_assign(&reporter, state_.Now());
  if (is_new) {
    state_.Log(LogLevel::kVerbose, "Node " + NodeText(reporter) + " reports node " +
                                       NodeText(node) + " as unreachable");
  }
  FailIfAgreed(node);
}

void FailureDetector::WithdrawReport(const ClusterNode& node, const ClusterNode& reporter) {
  const auto found = reports_.find(&node);
  if (found == reports_.end() || found->second.erase(&reporter) == 0) return;
  state_.Log(LogLevel::kVerbose,
             "Node " + NodeText(reporter) + " reports node " + NodeText(node) + " as reachable");
  if (found->second.empty()) reports_.erase(found);
}

size_t FailureDetector::CountReports(const ClusterNode& node) {
  const auto found = reports_.find(&node);
  if (found == reports_.end()) return 0;
  const int64_t oldest = state_.Now() - state_.settings.node_timeout * kReportValidity;
  std::erase_if(found->second, [&](const auto& report) { return report.second < oldest; });
  const size_t count = found->second.size();
  if (count == 0) reports_.erase(found);
  return count;
}

// A replica collects reports too, but it has no vote of its own.
void FailureDetector::FailIfAgreed(ClusterNode& node) {
  if (!node.may_have_failed || node.has_failed) return;
  const size_t own_vote = state_.Votes(state_.self()) ? 1 : 0;
  if (CountReports(node) + own_vote < state_.Majority()) return;
  state_.Notice("Node " + NodeText(node) + " has failed: most masters cannot reach it");
  MarkFailed(node);
  sender_.BroadcastFailure(node);
}

void FailureDetector::AcceptFailure(ClusterNode& node) {
  if (node.has_failed || &node == &state_.self()) return;
  MarkFailed(node);
}

void FailureDetector::MarkFailed(ClusterNode& node) {
  node.may_have_failed = false;
  node.has_failed = true;
  node.fail_time = state_.Now();
  state_.must_check_state = true;
  state_.SaveLater();
}

void FailureDetector::Answered(ClusterNode& node) {
  if (node.may_have_failed) {
    node.may_have_failed = false;
  } else if (node.has_failed) {
    const bool may_be_replaced =
        state_.Votes(node) &&
        state_.Now() - node.fail_time <= state_.settings.node_timeout * kFailureLeast;
    if (may_be_replaced) return;
    state_.Notice("Node " + NodeText(node) + " is reachable again");
    node.has_failed = false;
  } else {
    return;
  }
  state_.must_check_state = true;
  state_.SaveLater();
}

void FailureDetector::Forget(const ClusterNode& node) {
  reports_.erase(&node);
  for (auto& [subject, reports] : reports_) reports.erase(&node);
}

}  // namespace zsetd
