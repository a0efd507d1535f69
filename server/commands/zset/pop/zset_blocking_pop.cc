#include <algorithm>
#include <cassert>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/sorted_set/sorted_set.h"
#include "protocol/text/number_text.h"
#include "server/commands/common/formed_scores.h"
#include "server/commands/common/multi_pop_request.h"
#include "server/commands/common/timeout_option.h"
#include "server/commands/zset/families.h"
#include "server/commands/zset/pop/zset_score_pop.h"
#include "server/commands/zset/zset_bounds.h"
#include "server/commands/zset/zset_cut.h"
#include "server/commands/zset/zset_reply.h"
#include "server/engine/call.h"
#include "server/engine/support/ascii_case.h"

namespace zsetd {
namespace {

// The keys of BZPOPMIN and BZPOPMAX.
constexpr KeyPlaces kAllButTimeout = {.first = 1, .last = -2, .step = 1, .last_option = "WITHDATA"};

// The event of the change, and of the command.
KeyEvent PopEvent(bool highest) { return highest ? KeyEvent::kZPopMax : KeyEvent::kZPopMin; }

// The ranks of the `wanted` lowest or highest elements of the set.
RankRange EndOf(const SortedSet& set, bool highest, uint64_t wanted) {
  assert(!set.empty() && wanted > 0);
  const size_t count = std::min<uint64_t>(set.size(), wanted);
  return highest ? RankRange{set.size() - count, set.size()} : RankRange{0, count};
}

// The options of ZMPOP: [COUNT count] [WITHDATA].
struct MultiPopOptions {
  std::optional<uint64_t> count;
  bool with_payloads = false;
};

MultiPopOptions TakeMultiPopOptions(ArgReader& args) {
  MultiPopOptions options;
  while (args.ok() && !args.AtEnd()) {
    if (!options.with_payloads && args.Take("withdata")) {
      options.with_payloads = true;
    } else if (!options.count) {
      options.count = TakeCountOption(args);
    } else {
      args.Refuse(kSyntaxError);
    }
  }
  return options;
}

void PopTuples(Call& call, std::string_view key, Edit<SortedSet>& set, bool highest,
               const MultiPopOptions& options) {
  const RankRange ranks = EndOf(*set, highest, options.count.value_or(1));
  ReplyKeyAndTuples(call, key, *set, ranks, highest, options.with_payloads);
  RemovedMembers members(call, *set, ranks);
  CutRanks(set, ranks);
  if (members.Propagate(key)) return;
  call.Propagate({NameOf(PopEvent(highest)), key, IntegerText(static_cast<int64_t>(ranks.size()))});
}

// Does not wait if there is no timeout. The timeout is checked after the other arguments, as in
// Redis.
void MultiPop(Call& call, std::optional<std::string_view> timeout_text) {
  const Args keys = TakeCountedKeys(call.args);
  const bool highest = call.args.Take("max");
  if (!highest && !call.args.Take("min")) call.args.Refuse(kSyntaxError);
  const MultiPopOptions options = TakeMultiPopOptions(call.args);
  std::optional<Millis> timeout;
  if (timeout_text) timeout = ReadTimeout(call.args, *timeout_text, call.now());
  std::string_view key;
  Edit<SortedSet> set = OpenFirst<SortedSet>(call, keys, PopEvent(highest), key);
  if (call.Refused()) return;
  if (set) return PopTuples(call, key, set, highest, options);
  if (!timeout || !call.WaitFor<SortedSet>(keys, *timeout)) call.reply.NullArray();
}

void ZMPop(Call& call) { MultiPop(call, std::nullopt); }
void BZMPop(Call& call) { MultiPop(call, call.args.Word()); }

// BZPOPMIN key [key ...] timeout [WITHDATA]
void BlockingPop(Call& call, bool highest) {
  const bool with_payload =
      call.args.left() > 2 && EqualsIgnoringCase(call.argv().back(), kAllButTimeout.last_option);
  const Args keys = call.args.Next(call.args.left() - (with_payload ? 2 : 1));
  const Millis timeout = TakeTimeout(call.args, call.now());
  std::string_view key;
  Edit<SortedSet> set = OpenFirst<SortedSet>(call, keys, PopEvent(highest), key);
  if (call.Refused()) return;
  if (!set && call.WaitFor<SortedSet>(keys, timeout)) return;
  if (!set) return call.reply.NullArray();
  const RankRange ranks = EndOf(*set, highest, 1);
  ReplyKeyAndElement(call, key, *set, ranks.first, with_payload);
  RemovedMembers members(call, *set, ranks);
  CutRanks(set, ranks);
  if (members.Propagate(key)) return;
  call.Propagate({NameOf(PopEvent(highest)), key});
}

// BZPOPBYSCORE timeout key min max [REV] [COUNT count] [WITHDATA]
void BZPopByScore(Call& call) {
  const Millis timeout = TakeTimeout(call.args, call.now());
  const std::string_view key = call.args.Word();
  const ScorePopRequest request = TakeScorePopRequest(call.args);
  Edit<SortedSet> set = call.Open<SortedSet>(key, request.event());
  CheckSuits(call, request.scores, set ? &*set : nullptr);
  if (call.Refused()) return;
  const RankRange ranks = set ? request.RanksIn(*set, call.now()) : RankRange();
  if (ranks.empty()) {
    if (!call.WaitForScores(key, request.scores, timeout)) call.reply.NullArray();
    return;
  }
  ReplyKeyAndPopped(call, key, *set, ranks, request);
  PopRanks(call, key, set, ranks);
}

void BZPopMin(Call& call) { BlockingPop(call, /*highest=*/false); }
void BZPopMax(Call& call) { BlockingPop(call, /*highest=*/true); }

constexpr Command kZSetBlockingPopCommands[] = {
    {.name = "zmpop",
     .run = ZMPop,
     .arity = -4,
     .flags = kWrite | kMovableKeys,
     .keys = {.count_at = 1},
     .group = CommandGroup::kSortedSet,
     .since = "7.0.0",
     .usage = "numkeys key [key ...] <MIN|MAX> [COUNT count] [WITHDATA]",
     .summary = "Removes and returns the lowest- or highest-scoring members of the first non-empty "
                "sorted set.",
     .cost = "O(K)+O(M*log(N)) for K keys and M members removed",
     .key_use = "RW access delete"},
    {.name = "bzmpop",
     .run = BZMPop,
     .arity = -5,
     .flags = kWrite | kBlocking | kMovableKeys,
     .keys = {.count_at = 2},
     .group = CommandGroup::kSortedSet,
     .since = "7.0.0",
     .usage = "timeout numkeys key [key ...] <MIN|MAX> [COUNT count] [WITHDATA]",
     .summary = "Like ZMPOP; blocks until a member is available.",
     .cost = "O(K)+O(M*log(N)) for K keys and M members removed",
     .key_use = "RW access delete"},
    {.name = "bzpopmin",
     .run = BZPopMin,
     .arity = -3,
     .flags = kWrite | kNoScript | kBlocking | kFast,
     .keys = kAllButTimeout,
     .group = CommandGroup::kSortedSet,
     .since = "5.0.0",
     .usage = "key [key ...] timeout [WITHDATA]",
     .summary = "Removes and returns the lowest-scoring member; blocks until one is available.",
     .cost = "O(log(N))",
     .key_use = "RW access delete"},
    {.name = "bzpopmax",
     .run = BZPopMax,
     .arity = -3,
     .flags = kWrite | kNoScript | kBlocking | kFast,
     .keys = kAllButTimeout,
     .group = CommandGroup::kSortedSet,
     .since = "5.0.0",
     .usage = "key [key ...] timeout [WITHDATA]",
     .summary = "Removes and returns the highest-scoring member; blocks until one is available.",
     .cost = "O(log(N))",
     .key_use = "RW access delete"},
    {.name = "bzpopbyscore",
     .run = BZPopByScore,
     .arity = -5,
     .flags = kWrite | kBlocking | kFast,
     .keys = {.first = 2, .last = 2, .step = 1},
     .group = CommandGroup::kSortedSet,
     .since = kZsetdOnly,
     .usage = "timeout key min max [REV] [COUNT count] [WITHDATA]",
     .summary = "Like ZPOPBYSCORE; blocks until a member is in the range.",
     .cost = "O(log(N)+M) for M members removed",
     .key_use = "RW access delete"},
};

}  // namespace

std::span<const Command> ZSetBlockingPopCommands() { return kZSetBlockingPopCommands; }

}  // namespace zsetd
