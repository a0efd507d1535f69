#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "server/commands/list/families.h"
#include "server/commands/list/list_end.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

constexpr std::string_view kRankOutOfRange =
    "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807";
constexpr std::string_view kRankIsZero =
    "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use "
    "negative to start from the end of the list";

// The arguments of LPOS.
struct Search {
  std::string_view element;
  ListEnd from = ListEnd::kLeft;
  int64_t skipped = 0;           // matches before the first requested one
  std::optional<int64_t> count;  // 0 for all matches; nullopt for the first match, not in an array
  int64_t most_compared = 0;     // 0 compares all elements
};

void TakeRank(ArgReader& args, Search& search) {
  const int64_t rank = args.Integer();
  if (rank < -kLargest) args.Refuse(kRankOutOfRange);
  if (rank == 0) args.Refuse(kRankIsZero);
  if (!args.ok()) return;
  search.from = rank > 0 ? ListEnd::kLeft : ListEnd::kRight;
  search.skipped = std::abs(rank) - 1;
}

Search TakeSearch(ArgReader& args) {
  Search search = {.element = args.Word()};
  while (args.ok() && !args.AtEnd()) {
    if (args.Take("rank")) {
      TakeRank(args, search);
    } else if (args.Take("count")) {
      search.count = args.IntegerIn(0, kLargest, "ERR COUNT can't be negative");
    } else if (args.Take("maxlen")) {
      search.most_compared = args.IntegerIn(0, kLargest, "ERR MAXLEN can't be negative");
    } else {
      args.Refuse(kSyntaxError);
    }
  }
  return search;
}

// Returns the indexes of the matches, in the order of the search.
std::vector<int64_t> Matches(const List& list, const Search& search) {
  const int64_t size = static_cast<int64_t>(list.size());
  const int64_t compared = search.most_compared == 0 ? size : std::min(size, search.most_compared);
  const size_t wanted = search.count.value_or(1);
  std::vector<int64_t> matches;
  int64_t skipped = 0;
  List::Cursor cursor = CursorFrom(list, search.from);
  for (int64_t i = 0; i < compared; ++i, StepFrom(search.from, cursor)) {
    if (cursor.element() != search.element || skipped++ < search.skipped) continue;
    matches.push_back(search.from == ListEnd::kLeft ? i : size - 1 - i);
    if (matches.size() == wanted) break;
  }
  return matches;
}

void LPos(Call& call) {
  const std::string_view key = call.args.Word();
  const Search search = TakeSearch(call.args);
  const List* list = call.Find<List>(key);
  if (call.Refused()) return;
  const std::vector<int64_t> matches =
      list == nullptr ? std::vector<int64_t>() : Matches(*list, search);
  if (!search.count && matches.empty()) return call.reply.Null();
  if (search.count) call.reply.Array(matches.size());
  for (const int64_t index : matches) call.reply.Integer(index);
}

constexpr Command kListSearchCommands[] = {
    {.name = "lpos",
     .run = LPos,
     .arity = -3,
     .flags = kReadOnly,
     .keys = kOneKey,
     .group = CommandGroup::kList,
     .since = "6.0.6",
     .usage = "key element [RANK rank] [COUNT num-matches] [MAXLEN len]",
     .summary = "Returns the indexes of matching elements.",
     .cost = "O(N) for N elements compared"},
};

}  // namespace

std::span<const Command> ListSearchCommands() { return kListSearchCommands; }

}  // namespace zsetd
