#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/stream/consumer_group.h"
#include "server/engine/call.h"

namespace zsetd {

// Propagates deliveries of entries to a consumer as XCLAIM commands, which set the same consumer,
// time and count. Entries with equal times and counts share one command. Does nothing without a
// journal.
class ClaimEffects {
 public:
  // All that is referred to outlives this. The group has its final position when Add() is called.
  ClaimEffects(Call& call, std::string_view key, std::string_view group_name,
               const ConsumerGroup& group, std::string_view consumer);

  void Add(StreamId id, Millis delivered, uint64_t deliveries);

  // Propagates the entries that were added since the last call. Must be called after the last one.
  void Flush();

  // Whether anything was propagated.
  bool any() const { return any_; }

 private:
  Call& call_;
  const std::string_view key_;
  const std::string_view group_name_;
  const ConsumerGroup& group_;
  const std::string_view consumer_;
  std::vector<std::string> ids_;
  Millis delivered_{0};
  uint64_t deliveries_ = 0;
  bool any_ = false;
};

// Propagates that the consumer exists. Does nothing without a journal.
void PropagateNewConsumer(Call& call, std::string_view key, std::string_view group_name,
                          std::string_view consumer);

// Propagates the position of the group.
void PropagateGroupPosition(Call& call, std::string_view key, std::string_view group_name,
                            const ConsumerGroup& group);

}  // namespace zsetd
