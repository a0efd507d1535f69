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

EntryDeletion::EntryDeletion(Stream& stream, References references)
    : stream_(stream), references_(references) {
  if (references == References::kKeep) return;
  for (const auto& [name, group] : stream.groups()) {
    read_by_all_ = std::min(read_by_all_, group.last_id());
    if (group.pending().size() > 0) referring_.emplace_back(name, stream.ChangeGroup(name));
  }
}

EntryDeletion::Result EntryDeletion::Delete(StreamId id) {
  if (references_ == References::kForbid && IsReferenced(id)) return Result::kReferenced;
  if (references_ == References::kRemove) RemoveReferences(id);
  if (!stream_.Delete(id)) return Result::kMissing;
  deleted_.push_back(id);
  return Result::kDeleted;
}

bool EntryDeletion::IsReferenced(StreamId id) const {
  return id > read_by_all_ || std::ranges::any_of(referring_, [id](const auto& each) {
           return each.second->pending().Find(id).has_value();
         });
}

void EntryDeletion::RemoveReferences(StreamId id) {
  for (const auto& [name, group] : referring_) {
    if (group->Acknowledge(id)) acknowledged_[std::string(name)].push_back(id);
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
