#include "server/engine/state/replication_state.h"

#include <cassert>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/text/number_text.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/split.h"
#include "server/engine/support/unique_id.h"

namespace zsetd {
namespace {

std::string NoId() { return std::string(kUniqueIdLength, '0'); }

}  // namespace

std::optional<MasterAddress> MasterIn(const Settings& settings) {
  const std::vector<std::string_view> words = Split(settings.replicaof, ' ');
  if (words.size() != 2 || EqualsIgnoringCase(settings.replicaof, "no one")) return std::nullopt;
  return MasterAddress{std::string(words[0]), ParseInteger(words[1]).value_or(0)};
}

ReplicationState::ReplicationState(const Settings& settings, ServerMode& mode)
    : settings_(settings), mode_(mode), id_(UniqueId()), second_id_(NoId()) {}

void ReplicationState::Restart() {
  id_ = UniqueId();
  second_id_ = NoId();
  second_offset_ = -1;
}

void ReplicationState::Branch() { Rename(UniqueId()); }

void ReplicationState::Rename(std::string id) {
  assert(id.size() == kUniqueIdLength);
  second_id_ = std::exchange(id_, std::move(id));
  second_offset_ = offset_ + 1;
}

void ReplicationState::Join(std::string id, int64_t offset) {
  id_ = std::move(id);
  second_id_ = NoId();
  second_offset_ = -1;
  offset_ = offset;
}

void ReplicationState::Resume(std::string id, int64_t offset) {
  Join(std::move(id), offset);
  Branch();
}

absl::Status ReplicationState::CheckWrite() const {
  if (is_replica()) {
    return settings_.replica_read_only
               ? Refusal("READONLY You can't write against a read only replica.")
               : absl::OkStatus();
  }
  const bool is_limited = settings_.min_replicas_to_write > 0 && settings_.min_replicas_max_lag > 0;
  return !is_limited || good_replicas() >= settings_.min_replicas_to_write
             ? absl::OkStatus()
             : Refusal("NOREPLICAS Not enough good replicas to write.");
}

absl::Status ReplicationState::CheckStale() const {
  const bool answers = !is_replica() || link_up_ || settings_.replica_serve_stale_data;
  return answers ? absl::OkStatus()
                 : Refusal(
                       "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set "
                       "to 'no'.");
}

}  // namespace zsetd
