#include <string_view>

#include "server/commands/common/database_index.h"
#include "server/commands/key/families.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

constexpr std::string_view kSameObjects = "ERR source and destination objects are the same";

// Returns the key's entry. Refuses the call if the key does not exist.
Entry* OpenExisting(Call& call, std::string_view key) {
  Entry* entry = call.keys.Open(key);
  if (entry == nullptr) call.args.Refuse(kNoSuchKey);
  return entry;
}

void Rename(Call& call, Entry& entry, std::string_view new_key) {
  call.keys.Rename(entry, new_key);
}

void Rename(Call& call) {
  const std::string_view key = call.args.Word();
  const std::string_view new_key = call.args.Word();
  Entry* entry = OpenExisting(call, key);
  if (call.Refused()) return;
  if (key != new_key) Rename(call, *entry, new_key);
  call.reply.Ok();
}

void RenameNx(Call& call) {
  const std::string_view key = call.args.Word();
  const std::string_view new_key = call.args.Word();
  Entry* entry = OpenExisting(call, key);
  if (call.Refused()) return;
  const bool renamed = call.keys.Open(new_key) == nullptr;
  if (renamed) Rename(call, *entry, new_key);
  call.reply.Integer(renamed);
}

void Move(Call& call) {
  if (call.keys.is_clustered()) return call.Fail("ERR MOVE is not allowed in cluster mode");
  const std::string_view key = call.args.Word();
  const int index = TakeDatabaseIndex(call);
  if (index == call.caller.database) call.args.Refuse(kSameObjects);
  if (call.Refused()) return;
  Entry* entry = call.keys.Open(key);
  const bool moved = entry != nullptr && !call.keys.ExistsIn(index, key);
  if (moved) call.keys.MoveTo(index, *entry);
  call.reply.Integer(moved);
}

struct CopyOptions {
  int database = 0;
  bool replace = false;
};

CopyOptions TakeCopyOptions(Call& call) {
  CopyOptions options = {.database = call.caller.database};
  while (call.args.ok() && !call.args.AtEnd()) {
    if (call.args.Take("replace")) {
      options.replace = true;
    } else if (call.args.left() > 1 && call.args.Take("db")) {
      options.database = TakeDatabaseIndex(call);
    } else {
      call.args.Refuse(kSyntaxError);
    }
  }
  return options;
}

void Copy(Call& call) {
  const std::string_view key = call.args.Word();
  const std::string_view target = call.args.Word();
  const CopyOptions options = TakeCopyOptions(call);
  const bool elsewhere = options.database != call.caller.database;
  if (elsewhere && call.keys.is_clustered()) {
    call.args.Refuse("ERR Copying to another database is not allowed in cluster mode");
  }
  if (!elsewhere && key == target) call.args.Refuse(kSameObjects);
  if (call.Refused()) return;
  const Entry* entry = call.keys.Find(key);
  const bool copied =
      entry != nullptr && (options.replace || !call.keys.ExistsIn(options.database, target));
  if (copied) call.keys.CopyTo(options.database, target, *entry);
  call.reply.Integer(copied);
}

constexpr Command kKeyMoveCommands[] = {
    {.name = "rename",
     .run = Rename,
     .arity = 3,
     .flags = kWrite,
     .keys = kTwoKeys,
     .group = CommandGroup::kGeneric,
     .since = "1.0.0",
     .usage = "key newkey",
     .summary = "Renames a key, overwriting the destination.",
     .cost = "O(1), and O(M) for M elements that existed",
     .key_use = "RW access delete,OW update"},
    {.name = "renamenx",
     .run = RenameNx,
     .arity = 3,
     .flags = kWrite | kFast,
     .keys = kTwoKeys,
     .group = CommandGroup::kGeneric,
     .since = "1.0.0",
     .usage = "key newkey",
     .summary = "Renames a key if the new name does not exist.",
     .cost = "O(1)",
     .key_use = "RW access delete,OW insert"},
    {.name = "move",
     .run = Move,
     .arity = 3,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kGeneric,
     .since = "1.0.0",
     .usage = "key db",
     .summary = "Moves a key to another database, if it does not exist there.",
     .cost = "O(1)"},
    {.name = "copy",
     .run = Copy,
     .arity = -3,
     .flags = kWrite | kDenyOom,
     .keys = kTwoKeys,
     .group = CommandGroup::kGeneric,
     .since = "6.2.0",
     .usage = "source destination [DB destination-db] [REPLACE]",
     .summary = "Copies a key's value and expiration time to another key.",
     .cost = "O(N) for N elements",
     .key_use = "RO access,OW update"},
};

}  // namespace

std::span<const Command> KeyMoveCommands() { return kKeyMoveCommands; }

}  // namespace zsetd
