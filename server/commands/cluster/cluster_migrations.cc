#include "server/commands/cluster/cluster_migrations.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/text/number_text.h"
#include "server/commands/cluster/cluster_slots.h"
#include "server/commands/cluster/in_cluster.h"
#include "server/commands/common/reply_fields.h"
#include "server/engine/services/slot_migration_control.h"

namespace zsetd {
namespace {

constexpr std::string_view kOnlyNodesImport = "ERR Only a node can import slots";

SlotMigrationControl& MigrationsOf(AdminCall& call) {
  return *call.engine.services().slot_migrations;
}

std::string RangeText(SlotRange range) {
  return std::to_string(range.first) + "-" + std::to_string(range.last);
}

// Takes a range that overlaps with none of the others.
void TakeRange(ArgReader& args, const SlotMigrationControl& control,
               std::vector<SlotRange>& ranges) {
  const uint16_t first = TakeSlot(args);
  if (args.ok() && args.AtEnd()) args.Refuse("ERR No end slot for final slot range");
  const uint16_t last = TakeSlot(args);
  if (!args.ok()) return;
  if (first > last) {
    return args.Refuse("ERR Start slot number " + std::to_string(first) +
                       " is greater than end slot number " + std::to_string(last) + ".");
  }
  ranges.push_back({first, last});
  args.Refuse(control.CheckOwner(ranges));
  for (size_t i = 0; i + 1 < ranges.size(); ++i) {
    if (first > ranges[i].last || last < ranges[i].first) continue;
    args.Refuse("ERR Slot range " + RangeText(ranges.back()) + " overlaps with previous range " +
                RangeText(ranges[i]) + ".");
  }
}

// The ranges end before the first word that is no integer.
std::vector<SlotRange> TakeRangesOf(ArgReader& args, const SlotMigrationControl& control) {
  std::vector<SlotRange> ranges;
  if (!args.Take("slotsrange")) args.Refuse(kSyntaxError);
  while (args.ok() && ParseInteger(args.Peek())) TakeRange(args, control, ranges);
  if (ranges.empty()) args.Refuse("ERR No slot ranges specified");
  return ranges;
}

std::string_view Named(ArgReader& args, std::string_view name) {
  if (!args.Take(name)) args.Refuse(kSyntaxError);
  return args.Word();
}

void BeginImport(AdminCall& call) {
  SlotImportRequest request;
  request.source_id = Named(call.args, "source");
  request.name = Named(call.args, "name");
  request.ranges = TakeRangesOf(call.args, MigrationsOf(call));
  call.args.End();
  if (call.Refused()) return;
  Client* const client = call.caller.client();
  if (client == nullptr) return call.Fail(kOnlyNodesImport);
  ReplyStatus(call, MigrationsOf(call).StartImport(*client, request));
}

void NotePause(AdminCall& call) {
  call.args.End();
  if (call.Refused()) return;
  Client* const client = call.caller.client();
  if (client == nullptr) return call.Fail(kOnlyNodesImport);
  ReplyStatus(call, MigrationsOf(call).NotePause(*client));
}

void FinishImport(AdminCall& call) {
  const Millis within(call.args.Integer());
  const int64_t granted_epoch = call.args.Integer();
  if (granted_epoch <= 0) call.args.Refuse(kSyntaxError);
  call.args.End();
  if (call.Refused()) return;
  Client* const client = call.caller.client();
  if (client == nullptr) return call.Fail(kOnlyNodesImport);
  ReplyStatus(
      call, MigrationsOf(call).FinishImport(*client, within, static_cast<uint64_t>(granted_epoch)));
}

// Only in a master's stream: a client must not hide keys.
void NoteSlotsToClear(AdminCall& call) {
  std::vector<SlotRange> ranges;
  if (call.caller.client() != nullptr) call.args.Refuse(kSyntaxError);
  while (call.args.ok() && !call.args.AtEnd()) {
    const uint16_t first = TakeSlot(call.args);
    const uint16_t last = TakeSlot(call.args);
    ranges.push_back({first, last});
  }
  if (call.Refused()) return;
  ReplyStatus(call, MigrationsOf(call).NoteSlotsToClear(ranges));
}

}  // namespace

void MigrateSlots(AdminCall& call) {
  SlotMigrationControl& control = MigrationsOf(call);
  call.args.Refuse(control.CheckState());
  std::vector<SlotMigrationRequest> requests;
  do {
    SlotMigrationRequest request;
    request.ranges = TakeRangesOf(call.args, control);
    request.target_id = Named(call.args, "node");
    requests.push_back(std::move(request));
  } while (call.args.ok() && !call.args.AtEnd());
  if (call.Refused()) return;
  ReplyStatus(call, control.Start(requests));
}

void CancelSlotMigrations(AdminCall& call) { ReplyStatus(call, MigrationsOf(call).Cancel()); }

void GetSlotMigrations(AdminCall& call) {
  const std::vector<SlotMigrationView> migrations = MigrationsOf(call).Migrations();
  call.reply.Array(migrations.size());
  for (const SlotMigrationView& migration : migrations) {
    std::string ranges;
    for (const SlotRange range : migration.ranges) {
      if (!ranges.empty()) ranges += " ";
      ranges += RangeText(range);
    }
    call.reply.Map(11);
    ReplyFields fields(call.reply);
    fields.Text("name", migration.name);
    fields.Text("operation", migration.is_export ? "EXPORT" : "IMPORT");
    fields.Text("slot_ranges", ranges);
    fields.Text("target_node", migration.target_id);
    fields.Text("source_node", migration.source_id);
    fields.Number("create_time", static_cast<uint64_t>(migration.created));
    fields.Number("last_update_time", static_cast<uint64_t>(migration.updated));
    fields.Number("last_ack_time", static_cast<uint64_t>(migration.acknowledged));
    fields.Text("state", migration.state);
    fields.Text("message", migration.message);
    fields.Number("cow_size", 0);  // no process is copied
  }
}

void SyncSlots(AdminCall& call) {
  if (call.args.Take("begin")) return BeginImport(call);
  if (call.args.Take("paused")) return NotePause(call);
  if (call.args.Take("finish")) return FinishImport(call);
  if (call.args.Take("clears")) return NoteSlotsToClear(call);
  if (!call.args.Take("ack")) call.args.Refuse(kSyntaxError);
  call.args.End();
  if (call.Refused()) return;
  call.reply.Ok();
}

}  // namespace zsetd
