#include <optional>
#include <string>
#include <string_view>

#include "core/list/list.h"
#include "server/commands/common/timeout_option.h"
#include "server/commands/list/families.h"
#include "server/commands/list/list_end.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

std::string_view NameOf(ListEnd end) { return end == ListEnd::kLeft ? "LEFT" : "RIGHT"; }

// Pushes before it pops. If a list with one element is both source and destination, it is therefore
// not deleted and keeps its time to live. Does not wait if there is no timeout.
void Move(Call& call, std::string_view source, ListEnd from, std::string_view destination,
          ListEnd to, std::optional<Millis> timeout = std::nullopt) {
  const List* list = call.Peek<List>(source);
  if (list == nullptr && call.args.ok()) {
    if (!timeout || !call.WaitFor<List>({&source, 1}, *timeout)) call.reply.Null();
    return;
  }
  call.Peek<List>(destination);
  if (call.Refused()) return;
  const std::string element(ElementAt(*list, from));
  {
    Edit<List> target = call.OpenOrMake<List>(destination, PushEvent(to));
    target.CountElsewhere();  // a move is one change
    if (source != destination) target.Announce(1, element.size());
    PushAt(*target, to, element);
  }
  DropAt(call.Open<List>(source, PopEvent(from)), from, 1);
  if (timeout) call.Propagate({"LMOVE", source, destination, NameOf(from), NameOf(to)});
  call.reply.Bulk(element);
}

void LMove(Call& call) {
  const std::string_view source = call.args.Word();
  const std::string_view destination = call.args.Word();
  const ListEnd from = TakeListEnd(call.args);
  const ListEnd to = TakeListEnd(call.args);
  Move(call, source, from, destination, to);
}

void RPopLPush(Call& call) {
  const std::string_view source = call.args.Word();
  const std::string_view destination = call.args.Word();
  Move(call, source, ListEnd::kRight, destination, ListEnd::kLeft);
}

void BLMove(Call& call) {
  const std::string_view source = call.args.Word();
  const std::string_view destination = call.args.Word();
  const ListEnd from = TakeListEnd(call.args);
  const ListEnd to = TakeListEnd(call.args);
  Move(call, source, from, destination, to, TakeTimeout(call.args, call.now()));
}

void BRPopLPush(Call& call) {
  const std::string_view source = call.args.Word();
  const std::string_view destination = call.args.Word();
  const Millis timeout = TakeTimeout(call.args, call.now());
  Move(call, source, ListEnd::kRight, destination, ListEnd::kLeft, timeout);
}

constexpr Command kListMoveCommands[] = {
    {.name = "lmove",
     .run = LMove,
     .arity = 5,
     .flags = kWrite | kDenyOom,
     .keys = kTwoKeys,
     .group = CommandGroup::kList,
     .since = "6.2.0",
     .usage = "source destination <LEFT|RIGHT> <LEFT|RIGHT>",
     .summary = "Pops an element from one end of a list and pushes it to an end of another.",
     .cost = "O(1)",
     .key_use = "RW access delete,RW insert"},
    {.name = "rpoplpush",
     .run = RPopLPush,
     .arity = 3,
     .flags = kWrite | kDenyOom,
     .keys = kTwoKeys,
     .group = CommandGroup::kList,
     .since = "1.2.0",
     .usage = "source destination",
     .summary = "Pops the last element of a list and pushes it to the front of another.",
     .cost = "O(1)",
     .key_use = "RW access delete,RW insert"},
    {.name = "blmove",
     .run = BLMove,
     .arity = 6,
     .flags = kWrite | kDenyOom | kNoScript | kBlocking,
     .keys = kTwoKeys,
     .group = CommandGroup::kList,
     .since = "6.2.0",
     .usage = "source destination <LEFT|RIGHT> <LEFT|RIGHT> timeout",
     .summary = "Like LMOVE; blocks until an element is available.",
     .cost = "O(1)",
     .key_use = "RW access delete,RW insert"},
    {.name = "brpoplpush",
     .run = BRPopLPush,
     .arity = 4,
     .flags = kWrite | kDenyOom | kNoScript | kBlocking,
     .keys = kTwoKeys,
     .group = CommandGroup::kList,
     .since = "2.2.0",
     .usage = "source destination timeout",
     .summary = "Like RPOPLPUSH; blocks until an element is available.",
     .cost = "O(1)",
     .key_use = "RW access delete,RW insert"},
};

}  // namespace

std::span<const Command> ListMoveCommands() { return kListMoveCommands; }

}  // namespace zsetd
