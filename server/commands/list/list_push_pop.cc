#include <algorithm>
#include <cassert>
#include <limits>
#include <optional>
#include <string_view>

#include "core/list/list.h"
#include "server/commands/list/families.h"
#include "server/commands/list/list_end.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

void PushAll(Call& call, const Edit<List>& list, ListEnd end, Args elements) {
  if (call.Refused()) return;
  if (!list) return call.reply.Integer(0);
  AnnounceAll(list, elements);
  for (const std::string_view element : elements) PushAt(*list, end, element);
  call.reply.Integer(static_cast<int64_t>(list->size()));
}

void Push(Call& call, ListEnd end) {
  const std::string_view key = call.args.Word();
  const Args elements = call.args.Rest();
  PushAll(call, call.OpenOrMake<List>(key, PushEvent(end)), end, elements);
}

void PushIfThere(Call& call, ListEnd end) {
  const std::string_view key = call.args.Word();
  const Args elements = call.args.Rest();
  PushAll(call, call.Open<List>(key, PushEvent(end)), end, elements);
}

void LPush(Call& call) { Push(call, ListEnd::kLeft); }
void RPush(Call& call) { Push(call, ListEnd::kRight); }
void LPushX(Call& call) { PushIfThere(call, ListEnd::kLeft); }
void RPushX(Call& call) { PushIfThere(call, ListEnd::kRight); }

// Replies `count` elements from that end. The list has at least that many.
void ReplyFromEnd(Call& call, const List& list, ListEnd end, size_t count) {
  assert(count <= list.size());
  call.reply.Array(count);
  List::Cursor cursor = CursorFrom(list, end);
  for (; count > 0; --count, StepFrom(end, cursor)) call.reply.Bulk(cursor.element());
}

std::optional<size_t> TakePopCount(Call& call) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  if (call.args.AtEnd()) return std::nullopt;
  if (call.args.left() > 1) call.args.Refuse(WrongArity(call.command.name));
  return call.args.IntegerIn(0, kMost, kMustBePositive);
}

// Replies one element, or with a count an array of the elements that exist.
void Pop(Call& call, ListEnd end) {
  const std::string_view key = call.args.Word();
  const std::optional<size_t> wanted = TakePopCount(call);
  const Edit<List> list = call.Open<List>(key, PopEvent(end));
  if (call.Refused()) return;
  if (!list) return wanted ? call.reply.NullArray() : call.reply.Null();
  const size_t count = std::min(wanted.value_or(1), list->size());
  if (wanted) {
    ReplyFromEnd(call, *list, end, count);
  } else {
    call.reply.Bulk(ElementAt(*list, end));
  }
  DropAt(list, end, count);
}

void LPop(Call& call) { Pop(call, ListEnd::kLeft); }
void RPop(Call& call) { Pop(call, ListEnd::kRight); }

constexpr uint32_t kPushFlags = kWrite | kDenyOom | kFast;

constexpr Command kListPushPopCommands[] = {
    {.name = "lpush",
     .run = LPush,
     .arity = -3,
     .flags = kPushFlags,
     .keys = kOneKey,
     .group = CommandGroup::kList,
     .since = "1.0.0",
     .usage = "key element [element ...]",
     .summary = "Prepends elements to a list, one after another.",
     .cost = "O(N) for N elements added",
     .key_use = "RW insert"},
    {.name = "rpush",
     .run = RPush,
     .arity = -3,
     .flags = kPushFlags,
     .keys = kOneKey,
     .group = CommandGroup::kList,
     .since = "1.0.0",
     .usage = "key element [element ...]",
     .summary = "Appends elements to a list.",
     .cost = "O(N) for N elements added",
     .key_use = "RW insert"},
    {.name = "lpushx",
     .run = LPushX,
     .arity = -3,
     .flags = kPushFlags,
     .keys = kOneKey,
     .group = CommandGroup::kList,
     .since = "2.2.0",
     .usage = "key element [element ...]",
     .summary = "Prepends elements to a list if it exists.",
     .cost = "O(N) for N elements added",
     .key_use = "RW insert"},
    {.name = "rpushx",
     .run = RPushX,
     .arity = -3,
     .flags = kPushFlags,
     .keys = kOneKey,
     .group = CommandGroup::kList,
     .since = "2.2.0",
     .usage = "key element [element ...]",
     .summary = "Appends elements to a list if it exists.",
     .cost = "O(N) for N elements added",
     .key_use = "RW insert"},
    {.name = "lpop",
     .run = LPop,
     .arity = -2,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kList,
     .since = "1.0.0",
     .usage = "key [count]",
     .summary = "Pops the first element or elements of a list.",
     .cost = "O(N) for N elements popped",
     .key_use = "RW access delete"},
    {.name = "rpop",
     .run = RPop,
     .arity = -2,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kList,
     .since = "1.0.0",
     .usage = "key [count]",
     .summary = "Pops the last element or elements of a list.",
     .cost = "O(N) for N elements popped",
     .key_use = "RW access delete"},
};

}  // namespace

std::span<const Command> ListPushPopCommands() { return kListPushPopCommands; }

}  // namespace zsetd
