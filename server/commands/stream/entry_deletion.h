#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/stream/stream.h"
#include "server/engine/call.h"

namespace zsetd {

// How a deletion treats references, which are pending entries of groups (XADD, XTRIM, XDELEX,
// XACKDEL of Redis 8.2):
//   KEEPREF  references stay
//   DELREF   references are removed
//   ACKED    an entry stays if a group has not read it or not acknowledged it
enum class References { kKeep, kRemove, kForbid };

// Takes one of these options. Returns false, and takes nothing, if the next argument is another
// one. Refuses a second one.
bool TakeReferences(ArgReader& args, std::optional<References>& references);

// Deletes entries of a stream as the policy permits, and propagates the deletions as commands that
// Redis 7.0 knows. The stream outlives it.
//
// A command may name thousands of entries of a stream with thousands of groups. So the groups are
// visited once, and then only those that had pending entries. During the command no group reads or
// claims an entry.
class EntryDeletion {
 public:
  // The values are the replies of XDELEX and XACKDEL.
  enum class Result { kMissing = -1, kDeleted = 1, kReferenced = 2 };

  EntryDeletion(Stream& stream, References references);  // O(groups), but O(1) for kKeep

  // Whether a group has not read the entry, or has it pending. O(g log(pending entries)) for g
  // groups with pending entries. Not for kKeep.
  bool IsReferenced(StreamId id) const;

  // Deletes an entry, and its references if the policy requires that, even those to an entry that
  // does not exist.
  Result Delete(StreamId id);

  // Removes the references to an entry that is deleted already.
  void RemoveReferences(StreamId id);

  const std::vector<StreamId>& deleted() const { return deleted_; }

  // Propagates as XDEL and XACK. Counts the removed references as changes. Must be called once.
  void End(Call& call, std::string_view key);

 private:
  Stream& stream_;
  const References references_;
  StreamId read_by_all_ = kLastStreamId;  // the least last ID of the groups
  std::vector<std::pair<std::string_view, ConsumerGroup*>> referring_;  // had pending entries
  std::vector<StreamId> deleted_;
  std::map<std::string, std::vector<StreamId>, std::less<>> acknowledged_;  // by group
};

}  // namespace zsetd
