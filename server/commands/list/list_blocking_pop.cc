#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/list/list.h"
#include "protocol/text/number_text.h"
#include "server/commands/common/multi_pop_request.h"
#include "server/commands/common/timeout_option.h"
#include "server/commands/list/families.h"
#include "server/commands/list/list_end.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

void PopElements(Call& call, std::string_view key, const Edit<List>& list, ListEnd end,
                 uint64_t wanted) {
  const size_t count = std::min<uint64_t>(list->size(), wanted);
  call.reply.Array(2);
  call.reply.Bulk(key);
  call.reply.Array(count);
  List::Cursor cursor = CursorFrom(*list, end);
  for (size_t i = 0; i < count; ++i, StepFrom(end, cursor)) call.reply.Bulk(cursor.element());
  DropAt(list, end, count);
  call.Propagate({NameOf(PopEvent(end)), key, IntegerText(static_cast<int64_t>(count))});
}

// Does not wait if there is no timeout. The timeout is checked after the other arguments, as in
// Redis.
void MultiPop(Call& call, std::optional<std::string_view> timeout_text) {
  const Args keys = TakeCountedKeys(call.args);
  const ListEnd end = TakeListEnd(call.args);
  const uint64_t wanted = TakeMultiPopCount(call.args);
  std::optional<Millis> timeout;
  if (timeout_text) timeout = ReadTimeout(call.args, *timeout_text, call.now());
  std::string_view key;
  const Edit<List> list = OpenFirst<List>(call, keys, PopEvent(end), key);
  if (call.Refused()) return;
  if (list) return PopElements(call, key, list, end, wanted);
  if (!timeout || !call.WaitFor<List>(keys, *timeout)) call.reply.NullArray();
}

void LMPop(Call& call) { MultiPop(call, std::nullopt); }
void BLMPop(Call& call) { MultiPop(call, call.args.Word()); }

void BlockingPop(Call& call, ListEnd end) {
  const Args keys = call.args.Next(call.args.left() - 1);
  const Millis timeout = TakeTimeout(call.args, call.now());
  std::string_view key;
  const Edit<List> list = OpenFirst<List>(call, keys, PopEvent(end), key);
  if (call.Refused()) return;
  if (!list && call.WaitFor<List>(keys, timeout)) return;
  if (!list) return call.reply.NullArray();
  call.reply.Array(2);
  call.reply.Bulk(key);
  call.reply.Bulk(ElementAt(*list, end));
  DropAt(list, end, 1);
  call.Propagate({NameOf(PopEvent(end)), key});
}

void BLPop(Call& call) { BlockingPop(call, ListEnd::kLeft); }
void BRPop(Call& call) { BlockingPop(call, ListEnd::kRight); }

constexpr Command kListBlockingPopCommands[] = {
    {.name = "lmpop",
     .run = LMPop,
     .arity = -4,
     .flags = kWrite | kMovableKeys,
     .keys = {.count_at = 1},
     .group = CommandGroup::kList,
     .since = "7.0.0",
     .usage = "numkeys key [key ...] <LEFT|RIGHT> [COUNT count]",
     .summary = "Pops elements from the first non-empty list.",
     .cost = "O(N+M) for N keys and M elements popped",
     .key_use = "RW access delete"},
    {.name = "blmpop",
     .run = BLMPop,
     .arity = -5,
     .flags = kWrite | kBlocking | kMovableKeys,
     .keys = {.count_at = 2},
     .group = CommandGroup::kList,
     .since = "7.0.0",
     .usage = "timeout numkeys key [key ...] <LEFT|RIGHT> [COUNT count]",
     .summary = "Like LMPOP; blocks until an element is available.",
     .cost = "O(N+M) for N keys and M elements popped",
     .key_use = "RW access delete"},
    {.name = "blpop",
     .run = BLPop,
     .arity = -3,
     .flags = kWrite | kNoScript | kBlocking,
     .keys = kAllButLast,
     .group = CommandGroup::kList,
     .since = "2.0.0",
     .usage = "key [key ...] timeout",
     .summary = "Pops the first element of a list; blocks until one is available.",
     .cost = "O(N) for N keys",
     .key_use = "RW access delete"},
    {.name = "brpop",
     .run = BRPop,
     .arity = -3,
     .flags = kWrite | kNoScript | kBlocking,
     .keys = kAllButLast,
     .group = CommandGroup::kList,
     .since = "2.0.0",
     .usage = "key [key ...] timeout",
     .summary = "Pops the last element of a list; blocks until one is available.",
     .cost = "O(N) for N keys",
     .key_use = "RW access delete"},
};

}  // namespace

std::span<const Command> ListBlockingPopCommands() { return kListBlockingPopCommands; }

}  // namespace zsetd
