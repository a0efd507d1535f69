#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
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

// Whether a group has not read the entry, or has it pending. O(groups * log(pending entries)).
bool IsReferenced(const Stream& stream, StreamId id);

// Deletes entries of a stream as the policy permits, and propagates the deletions as commands that
// Redis 7.0 knows. The stream outlives it.
class EntryDeletion {
 public:
  // The values are the replies of XDELEX and XACKDEL.
  enum class Result { kMissing = -1, kDeleted = 1, kReferenced = 2 };

  EntryDeletion(Stream& stream, References references) : stream_(stream), references_(references) {}

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
  std::vector<StreamId> deleted_;
  std::map<std::string, std::vector<StreamId>, std::less<>> acknowledged_;  // by group
};

}  // namespace zsetd
