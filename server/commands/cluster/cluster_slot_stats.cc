#include "server/commands/cluster/cluster_slot_stats.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/hashing/key_slot.h"
#include "server/commands/cluster/cluster_slots.h"
#include "server/commands/cluster/in_cluster.h"
#include "server/commands/common/reply_fields.h"
#include "server/engine/support/ascii_case.h"

namespace zsetd {
namespace {

// In the order of the reply. The first one is known without cluster-slot-stats-enabled.
constexpr std::array<std::string_view, 5> kSlotMetrics = {
    "key-count", "cpu-usec", "network-bytes-in", "network-bytes-out", "memory-bytes"};

struct SlotFigures {
  size_t slot;
  std::array<uint64_t, kSlotMetrics.size()> values{};  // as kSlotMetrics
};

size_t KnownMetrics(const AdminCall& call) {
  return call.engine.settings().cluster_slot_stats_enabled ? kSlotMetrics.size() : 1;
}

SlotFigures FiguresOf(const AdminCall& call, size_t slot) {
  const Keyspace& keys = call.engine.store().database(0).keys();
  SlotFigures figures = {.slot = slot};
  figures.values[0] = keys.CountInSlot(slot);
  if (KnownMetrics(call) == 1) return figures;
  const SlotStats::Load load = call.engine.metrics().slots().Of(slot);
  figures.values[1] = load.cpu_usec;
  figures.values[2] = load.network_bytes_in;
  figures.values[3] = load.network_bytes_out;
  keys.VisitInSlot(slot, keys.CountInSlot(slot),
                   [&](const Entry& entry) { figures.values[4] += keys.BytesUsedBy(entry); });
  return figures;
}

// The slots of this shard in a range, in ascending order.
std::vector<SlotFigures> FiguresIn(const AdminCall& call, SlotRange range) {
  const ClusterControl& cluster = *call.engine.services().cluster;
  std::vector<SlotFigures> all;
  for (size_t slot = range.first; slot <= range.last; ++slot) {
    const ClusterControl::Owner owner = cluster.StateOf(slot).owner;
    const bool is_own =
        owner == ClusterControl::Owner::kSelf || owner == ClusterControl::Owner::kMasterOfSelf;
    if (is_own) all.push_back(FiguresOf(call, slot));
  }
  return all;
}

void ReplyFigures(AdminCall& call, const std::vector<SlotFigures>& all) {
  const size_t metrics = KnownMetrics(call);
  call.reply.Array(all.size());
  for (const SlotFigures& figures : all) {
    call.reply.Array(2);
    call.reply.Integer(static_cast<int64_t>(figures.slot));
    call.reply.Map(metrics);
    ReplyFields fields(call.reply);
    for (size_t i = 0; i < metrics; ++i) fields.Number(kSlotMetrics[i], figures.values[i]);
  }
}

void ReplyRange(AdminCall& call) {
  const uint16_t first = TakeSlot(call.args);
  const uint16_t last = TakeSlot(call.args);
  call.args.End();
  if (call.args.ok() && first > last) {
    call.args.Refuse("ERR Start slot number " + std::to_string(first) +
                     " is greater than end slot number " + std::to_string(last));
  }
  if (call.Refused()) return;
  ReplyFigures(call, FiguresIn(call, {first, last}));
}

struct SlotOrder {
  size_t metric = 0;
  size_t limit = kSlotCount;
  bool ascends = false;
};

SlotOrder TakeOrder(AdminCall& call) {
  constexpr std::string_view kTwice = "ERR Multiple filters of the same type are disallowed.";
  SlotOrder order;
  const std::string_view name = call.args.Word();
  while (order.metric < KnownMetrics(call) &&
         !EqualsIgnoringCase(name, kSlotMetrics[order.metric])) {
    ++order.metric;
  }
  if (order.metric == KnownMetrics(call)) {
    call.args.Refuse("ERR Unrecognized sort metric for ORDERBY.");
  }
  bool has_limit = false;
  bool has_direction = false;
  while (call.args.ok() && !call.args.AtEnd()) {
    if (call.args.Take("limit")) {
      const int64_t limit = call.args.IntegerIn(
          1, kSlotCount, "ERR Limit has to lie in between 1 and 16384 (maximum number of slots).");
      order.limit = static_cast<size_t>(limit);
      if (std::exchange(has_limit, true)) call.args.Refuse(kTwice);
    } else if (call.args.Take("asc") || call.args.Take("desc")) {
      order.ascends =
          EqualsIgnoringCase(call.argv()[call.argv().size() - call.args.left() - 1], "asc");
      if (std::exchange(has_direction, true)) call.args.Refuse(kTwice);
    } else {
      call.args.Refuse(kSyntaxError);
    }
  }
  return order;
}

void ReplyOrdered(AdminCall& call) {
  const SlotOrder order = TakeOrder(call);
  if (call.Refused()) return;
  std::vector<SlotFigures> all = FiguresIn(call, {0, kSlotCount - 1});
  std::ranges::stable_sort(all, [&](const SlotFigures& a, const SlotFigures& b) {
    const uint64_t of_a = a.values[order.metric];
    const uint64_t of_b = b.values[order.metric];
    return order.ascends ? of_a < of_b : of_a > of_b;
  });
  if (all.size() > order.limit) all.resize(order.limit);
  ReplyFigures(call, all);
}

}  // namespace

void SlotStatistics(AdminCall& call) {
  if (call.args.Take("slotsrange") && call.args.left() == 2) return ReplyRange(call);
  if (call.args.Take("orderby")) return ReplyOrdered(call);
  call.Fail(
      "ERR unknown subcommand or wrong number of arguments for 'SLOT-STATS'. Try CLUSTER HELP.");
}

}  // namespace zsetd
