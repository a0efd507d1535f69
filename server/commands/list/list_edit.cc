#include <cstdint>
#include <optional>
#include <string_view>

#include "core/list/list.h"
#include "server/commands/common/index_range.h"
#include "server/commands/list/families.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

// As in Redis, the key is checked before the index.
void LSet(Call& call) {
  const Edit<List> list = call.Open<List>(call.args.Word(), KeyEvent::kLSet);
  if (!list) call.args.Refuse(kNoSuchKey);
  const int64_t index = call.args.Integer();
  const std::string_view element = call.args.Word();
  const std::optional<size_t> place = IndexWithin(index, list ? list->size() : 0);
  if (!place) call.args.Refuse(kIndexOutOfRange);
  if (call.Refused()) return;
  list.Announce(1, element.size());  // as in Redis, which still counts the old one
  list->Replace(*place, element);
  list.ReconsiderEncoding();
  call.reply.Ok();
}

// A negative count removes from the right end; 0 removes all equal elements.
size_t RemoveEqual(List& list, int64_t count, std::string_view element) {
  if (count == 0) return list.RemoveFromFront(element, list.size());
  if (count > 0) return list.RemoveFromFront(element, count);
  return list.RemoveFromBack(element, 0 - static_cast<uint64_t>(count));
}

void LRem(Call& call) {
  const std::string_view key = call.args.Word();
  const int64_t count = call.args.Integer();
  const std::string_view element = call.args.Word();
  const Edit<List> list = call.Open<List>(key, KeyEvent::kLRem);
  if (call.Refused()) return;
  const size_t removed = list ? RemoveEqual(*list, count, element) : 0;
  if (removed > 0) list.ReconsiderEncoding();
  call.reply.Integer(static_cast<int64_t>(removed));
}

// As in Redis, an existing list is reported even if no element is removed.
void LTrim(Call& call) {
  const std::string_view key = call.args.Word();
  const IndexRange indices = TakeIndexRange(call.args);
  Edit<List> list = call.Open<List>(key, KeyEvent::kLTrim);
  if (call.Refused()) return;
  if (list) {
    list.ReportAlways();
    const RankRange kept = indices.Within(list->size());
    list->Erase(kept.last, list->size());
    list->Erase(0, kept.first);
    list.ReconsiderEncoding();
  }
  call.reply.Ok();
}

// Returns the index of a new element directly before or after the pivot.
std::optional<size_t> PlaceBeside(const List& list, std::string_view pivot, bool before) {
  size_t index = 0;
  for (auto at = list.CursorAt(0); at.valid(); at.Next(), ++index) {
    if (at.element() == pivot) return before ? index : index + 1;
  }
  return std::nullopt;
}

bool TakeBefore(ArgReader& args) {
  if (args.Take("before")) return true;
  if (!args.Take("after")) args.Refuse(kSyntaxError);
  return false;
}

// Replies the new length, 0 if the list does not exist, or -1 without the pivot.
void LInsert(Call& call) {
  const std::string_view key = call.args.Word();
  const bool before = TakeBefore(call.args);
  const std::string_view pivot = call.args.Word();
  const std::string_view element = call.args.Word();
  const Edit<List> list = call.Open<List>(key, KeyEvent::kLInsert);
  if (call.Refused()) return;
  if (!list) return call.reply.Integer(0);
  const std::optional<size_t> place = PlaceBeside(*list, pivot, before);
  if (!place) return call.reply.Integer(-1);
  list.Announce(1, element.size());
  list->Insert(*place, element);
  call.reply.Integer(static_cast<int64_t>(list->size()));
}

constexpr Command kListEditCommands[] = {
    {.name = "lset",
     .run = LSet,
     .arity = 4,
     .flags = kWrite | kDenyOom,
     .keys = kOneKey,
     .group = CommandGroup::kList,
     .since = "1.0.0",
     .usage = "key index element",
     .summary = "Sets the element at an index.",
     .cost = "O(S) for S elements from the closer end",
     .key_use = "RW update"},
    {.name = "lrem",
     .run = LRem,
     .arity = 4,
     .flags = kWrite,
     .keys = kOneKey,
     .group = CommandGroup::kList,
     .since = "1.0.0",
     .usage = "key count element",
     .summary = "Removes elements equal to a value: the first, the last, or all.",
     .cost = "O(N)",
     .key_use = "RW delete"},
    {.name = "ltrim",
     .run = LTrim,
     .arity = 4,
     .flags = kWrite,
     .keys = kOneKey,
     .group = CommandGroup::kList,
     .since = "1.0.0",
     .usage = "key start stop",
     .summary = "Trims a list to a range of indexes.",
     .cost = "O(N) for N elements removed",
     .key_use = "RW delete"},
    {.name = "linsert",
     .run = LInsert,
     .arity = 5,
     .flags = kWrite | kDenyOom,
     .keys = kOneKey,
     .group = CommandGroup::kList,
     .since = "2.2.0",
     .usage = "key <BEFORE|AFTER> pivot element",
     .summary = "Inserts an element before or after the first one equal to the pivot.",
     .cost = "O(S) for S elements before the pivot",
     .key_use = "RW insert"},
};

}  // namespace

std::span<const Command> ListEditCommands() { return kListEditCommands; }

}  // namespace zsetd
