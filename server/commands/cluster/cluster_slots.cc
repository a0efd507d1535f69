#include "server/commands/cluster/cluster_slots.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/hashing/key_slot.h"
#include "protocol/text/number_text.h"
#include "server/commands/cluster/in_cluster.h"
#include "server/engine/services/slot_migration_control.h"

namespace zsetd {
namespace {

bool IsSlot(int64_t number) { return number >= 0 && number < static_cast<int64_t>(kSlotCount); }

std::vector<SlotRange> TakeSlots(AdminCall& call) {
  std::vector<SlotRange> ranges;
  while (call.args.ok() && !call.args.AtEnd()) {
    const uint16_t slot = TakeSlot(call.args);
    ranges.push_back({slot, slot});
  }
  return ranges;
}

std::vector<SlotRange> TakeRanges(AdminCall& call) {
  std::vector<SlotRange> ranges;
  if (call.args.left() % 2 != 0) call.args.Refuse(WrongArity(call.command.name));
  while (call.args.ok() && !call.args.AtEnd()) {
    const uint16_t first = TakeSlot(call.args);
    const uint16_t last = TakeSlot(call.args);
    if (first > last) {
      call.args.Refuse("ERR start slot number " + std::to_string(first) +
                       " is greater than end slot number " + std::to_string(last));
    }
    ranges.push_back({first, last});
  }
  return ranges;
}

void ChangeAll(AdminCall& call, const std::vector<SlotRange>& ranges, bool adds) {
  if (call.Refused()) return;
  ClusterControl& cluster = ClusterOf(call);
  ReplyStatus(call, adds ? cluster.AddSlots(ranges) : cluster.DeleteSlots(ranges));
}

// As in Redis, a range is checked completely before the next one is read.
void ChangeRanges(AdminCall& call, bool adds) {
  std::vector<SlotRange> ranges = TakeRanges(call);
  if (!call.args.ok() && !ranges.empty()) {
    ranges.pop_back();  // the invalid one
    const absl::Status checked = ClusterOf(call).CheckSlots(ranges, adds);
    if (!checked.ok()) return call.Fail(checked);
  }
  ChangeAll(call, ranges, adds);
}

// The words after the slot. Returns nullopt if they are no action.
std::optional<absl::Status> ChangeSlot(ArgReader& args, ClusterControl& cluster, size_t slot) {
  const bool has_id = args.left() == 2;
  if (args.left() == 1 && args.Take("stable")) return cluster.EndMove(slot);
  if (has_id && args.Take("migrating")) return cluster.StartMigrating(slot, args.Word());
  if (has_id && args.Take("importing")) return cluster.StartImporting(slot, args.Word());
  if (has_id && args.Take("node")) return cluster.AssignSlot(slot, args.Word());
  return std::nullopt;
}

const Keyspace& KeysOf(AdminCall& call) { return call.engine.store().database(0).keys(); }

}  // namespace

uint16_t TakeSlot(ArgReader& args) {
  const std::optional<int64_t> number = ParseInteger(args.Word());
  if (number && IsSlot(*number)) return static_cast<uint16_t>(*number);
  args.Refuse("ERR Invalid or out of range slot");
  return 0;
}

void AddSlots(AdminCall& call) { ChangeAll(call, TakeSlots(call), /*adds=*/true); }
void AddSlotsRange(AdminCall& call) { ChangeRanges(call, /*adds=*/true); }
void DelSlots(AdminCall& call) { ChangeAll(call, TakeSlots(call), /*adds=*/false); }
void DelSlotsRange(AdminCall& call) { ChangeRanges(call, /*adds=*/false); }

void FlushSlots(AdminCall& call) { ReplyStatus(call, ClusterOf(call).FlushSlots()); }

void SetSlot(AdminCall& call) {
  if (ClusterOf(call).IsReplica()) {
    return call.Fail("ERR Please use SETSLOT only with masters.");
  }
  const absl::Status none_runs = call.engine.services().slot_migrations->CheckNoneRuns();
  if (!none_runs.ok()) return call.Fail(none_runs);
  const uint16_t slot = TakeSlot(call.args);
  if (call.Refused()) return;
  const std::optional<absl::Status> status = ChangeSlot(call.args, ClusterOf(call), slot);
  if (status) return ReplyStatus(call, *status);
  call.Fail("ERR Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP");
}

void KeySlotOf(AdminCall& call) { call.reply.Integer(KeySlot(call.args.Word())); }

void CountKeysInSlot(AdminCall& call) {
  const int64_t slot = call.args.Integer();
  if (!IsSlot(slot)) call.args.Refuse("ERR Invalid slot");
  if (call.Refused()) return;
  call.reply.Integer(static_cast<int64_t>(KeysOf(call).CountInSlot(static_cast<size_t>(slot))));
}

void GetKeysInSlot(AdminCall& call) {
  const int64_t slot = call.args.Integer();
  const int64_t most = call.args.Integer();
  if (!IsSlot(slot) || most < 0) call.args.Refuse("ERR Invalid slot or number of keys");
  if (call.Refused()) return;
  const Keyspace& keys = KeysOf(call);
  const auto index = static_cast<size_t>(slot);
  const size_t count = std::min(keys.CountInSlot(index), static_cast<size_t>(most));
  call.reply.Array(count);
  keys.VisitInSlot(index, count, [&](const Entry& entry) { call.reply.Bulk(entry.key()); });
}

}  // namespace zsetd
