#include "server/commands/stream/claim_effects.h"

#include "protocol/text/number_text.h"
#include "server/commands/stream/stream_id_text.h"
#include "server/engine/propagation/effects.h"

namespace zsetd {

ClaimEffects::ClaimEffects(Call& call, std::string_view key, std::string_view group_name,
                           const ConsumerGroup& group, std::string_view consumer)
    : call_(call), key_(key), group_name_(group_name), group_(group), consumer_(consumer) {}

void ClaimEffects::Add(StreamId id, Millis delivered, uint64_t deliveries) {
  if (!call_.Propagates()) return;
  const bool is_equal = delivered == delivered_ && deliveries == deliveries_;
  if (!is_equal || ids_.size() == Effects::kMostItems) Flush();
  delivered_ = delivered;
  deliveries_ = deliveries;
  ids_.push_back(StreamIdText(id));
}

void ClaimEffects::Flush() {
  if (ids_.empty()) return;
  const std::string time = IntegerText(delivered_.count());
  const std::string count = IntegerText(static_cast<int64_t>(deliveries_));
  const std::string last = StreamIdText(group_.last_id());
  std::vector<std::string_view> words = {"XCLAIM", key_, group_name_, consumer_, "0"};
  words.insert(words.end(), ids_.begin(), ids_.end());
  words.insert(words.end(), {"TIME", time, "RETRYCOUNT", count, "FORCE", "JUSTID", "LASTID", last});
  call_.Propagate(words);
  ids_.clear();
  any_ = true;
}

void PropagateNewConsumer(Call& call, std::string_view key, std::string_view group_name,
                          std::string_view consumer) {
  if (call.Propagates()) call.Propagate({"XGROUP", "CREATECONSUMER", key, group_name, consumer});
}

void PropagateGroupPosition(Call& call, std::string_view key, std::string_view group_name,
                            const ConsumerGroup& group) {
  if (!call.Propagates()) return;
  call.Propagate({"XGROUP", "SETID", key, group_name, StreamIdText(group.last_id()), "ENTRIESREAD",
                  IntegerText(group.entries_read())});
}

}  // namespace zsetd
