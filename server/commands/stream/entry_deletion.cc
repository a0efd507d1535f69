#include "server/commands/stream/entry_deletion.h"

#include <algorithm>

#include "server/commands/stream/id_effects.h"
#include "server/engine/support/errors.h"

namespace zsetd {

bool TakeReferences(ArgReader& args, std::optional<References>& references) {
  std::optional<References> taken;
  if (args.Take("keepref")) {
    taken = References::kKeep;
  } else if (args.Take("delref")) {
    taken = References::kRemove;
  } else if (args.Take("acked")) {
    taken = References::kForbid;
  }
  if (!taken) return false;
  if (references) args.Refuse(kSyntaxError);
  references = taken;
  return true;
}

bool IsReferenced(const Stream& stream, StreamId id) {
  return std::ranges::any_of(stream.groups(), [id](const auto& each) {
    const ConsumerGroup& group = each.second;
    return group.last_id() < id || group.pending().Find(id).has_value();
  });
}

EntryDeletion::Result EntryDeletion::Delete(StreamId id) {
  if (references_ == References::kForbid && IsReferenced(stream_, id)) return Result::kReferenced;
  if (references_ == References::kRemove) RemoveReferences(id);
  if (!stream_.Delete(id)) return Result::kMissing;
  deleted_.push_back(id);
  return Result::kDeleted;
}

void EntryDeletion::RemoveReferences(StreamId id) {
  for (const auto& [name, group] : stream_.groups()) {
    if (stream_.ChangeGroup(name)->Acknowledge(id)) acknowledged_[name].push_back(id);
  }
}

void EntryDeletion::End(Call& call, std::string_view key) {
  for (const auto& [name, ids] : acknowledged_) {
    stream_.CountChanges(ids.size());
    PropagateIds(call, {"XACK", key, name}, ids);
  }
  PropagateIds(call, {"XDEL", key}, deleted_);
}

}  // namespace zsetd
