#include <optional>
#include <string_view>

#include "core/list/list.h"
#include "core/sorted_set/sorted_set.h"
#include "server/commands/common/index_range.h"
#include "server/commands/list/families.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

void LLen(Call& call) {
  const List* list = call.Find<List>(call.args.Word());
  if (call.Refused()) return;
  call.reply.Integer(list == nullptr ? 0 : static_cast<int64_t>(list->size()));
}

void LRange(Call& call) {
  const std::string_view key = call.args.Word();
  const IndexRange indices = TakeIndexRange(call.args);
  const List* list = call.Find<List>(key);
  if (call.Refused()) return;
  const RankRange range = indices.Within(list == nullptr ? 0 : list->size());
  call.reply.Array(range.size());
  if (range.empty()) return;
  List::Cursor cursor = list->CursorAt(range.first);
  for (size_t i = 0; i < range.size(); ++i, cursor.Next()) call.reply.Bulk(cursor.element());
}

// As in Redis, the index is not parsed if the list does not exist.
void LIndex(Call& call) {
  const List* list = call.Find<List>(call.args.Word());
  if (list == nullptr && call.args.ok()) return call.reply.Null();
  const int64_t index = call.args.Integer();
  if (call.Refused()) return;
  const std::optional<size_t> place = IndexWithin(index, list->size());
  if (!place) return call.reply.Null();
  call.reply.Bulk(list->At(*place));
}

constexpr Command kListReadCommands[] = {
    {.name = "llen",
     .run = LLen,
     .arity = 2,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kList,
     .since = "1.0.0",
     .usage = "key",
     .summary = "Returns the length of a list.",
     .cost = "O(1)",
     .key_use = "RO"},
    {.name = "lrange",
     .run = LRange,
     .arity = 4,
     .flags = kReadOnly,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kList,
     .since = "1.0.0",
     .usage = "key start stop",
     .summary = "Returns the elements in a range of indexes.",
     .cost = "O(S+N) for N elements returned, S elements from the closer end"},
    {.name = "lindex",
     .run = LIndex,
     .arity = 3,
     .flags = kReadOnly,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kList,
     .since = "1.0.0",
     .usage = "key index",
     .summary = "Returns the element at an index.",
     .cost = "O(S) for S elements from the closer end"},
};

}  // namespace

std::span<const Command> ListReadCommands() { return kListReadCommands; }

}  // namespace zsetd
