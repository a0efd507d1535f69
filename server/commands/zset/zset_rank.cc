// Ranks: ZRANK and similar commands, ZRANKOF and ZAROUND.
#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "core/sorted_set/sorted_set.h"
#include "server/commands/common/formed_scores.h"
#include "server/commands/zset/families.h"
#include "server/commands/zset/zset_reply.h"
#include "server/engine/call.h"
#include "server/engine/support/ascii_case.h"

namespace zsetd {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The options of ZRANK: [WITHSCORE] [TIES COMPETITION|ORDINAL].
struct RankOptions {
  bool with_score = false;
  bool ties = false;         // TIES is given
  bool competition = false;  // COMPETITION: equal scores share the best of their ranks
};

// As in Redis, which only has WITHSCORE, several arguments with an unknown option are an error
// about the number of arguments.
RankOptions TakeRankOptions(Call& call) {
  ArgReader& args = call.args;
  const bool has_several = args.left() > 1;
  RankOptions options;
  while (args.ok() && !args.AtEnd()) {
    if (!options.with_score && args.Take("withscore")) {
      options.with_score = true;
    } else if (!options.ties && args.Take("ties")) {
      options.ties = true;
      options.competition = args.Take("competition");
      if (!options.competition && !args.Take("ordinal")) args.Refuse(kSyntaxError);
    } else if (has_several && !options.ties) {
      args.Refuse(WrongArity(call.command.name));
    } else {
      args.Refuse(kSyntaxError);
    }
  }
  return options;
}

// Returns the rank from the low end, or from the high end if `reversed`; nullopt if the member does
// not exist.
std::optional<size_t> RankOf(const SortedSet* set, std::string_view member, bool reversed) {
  const std::optional<size_t> rank = set == nullptr ? std::nullopt : set->Rank(member);
  if (!rank || !reversed) return rank;
  return set->size() - 1 - *rank;
}

// Returns the number of elements with a lower score, or with a higher score if `reversed`.
size_t CompetitionRank(const SortedSet& set, double score, bool reversed) {
  if (set.has_form()) {
    const RankRange ties = set.Ranks(CodeRange{ScoreCode(score), ScoreCode(score)});
    return reversed ? set.size() - ties.last : ties.first;
  }
  const ScoreRange better = reversed
                                ? ScoreRange{{.score = score, .exclusive = true}, {kInfinity}}
                                : ScoreRange{{-kInfinity}, {.score = score, .exclusive = true}};
  return set.Ranks(better).size();
}

void Rank(Call& call, bool reversed) {
  const std::string_view key = call.args.Word();
  const std::string_view member = call.args.Word();
  const RankOptions options = TakeRankOptions(call);
  const SortedSet* set = call.Find<SortedSet>(key);
  if (call.Refused()) return;
  std::optional<size_t> rank = RankOf(set, member, reversed);
  if (!rank) return options.with_score ? call.reply.NullArray() : call.reply.Null();
  const bool needs_score = options.with_score || options.competition;
  const double score = needs_score ? *set->Score(member) : 0;
  if (options.competition) rank = CompetitionRank(*set, score, reversed);
  if (options.with_score) call.reply.Array(2);
  call.reply.Integer(static_cast<int64_t>(*rank));
  if (options.with_score) ReplyScore(call, set, score);
}

void ZRank(Call& call) { Rank(call, /*reversed=*/false); }
void ZRevRank(Call& call) { Rank(call, /*reversed=*/true); }

void Ranks(Call& call, bool reversed) {
  const std::string_view key = call.args.Word();
  const Args members = call.args.Rest();
  const SortedSet* set = call.Find<SortedSet>(key);
  if (call.Refused()) return;
  call.reply.Array(members.size());
  for (const std::string_view member : members) {
    const std::optional<size_t> rank = RankOf(set, member, reversed);
    if (rank) {
      call.reply.Integer(static_cast<int64_t>(*rank));
    } else {
      call.reply.Null();
    }
  }
}

void ZMRank(Call& call) { Ranks(call, /*reversed=*/false); }
void ZMRevRank(Call& call) { Ranks(call, /*reversed=*/true); }

// Returns the number of elements with a lower score, or with this score and a lesser member.
// O(log n x log t) for t elements with this score.
size_t CountBefore(const SortedSet& set, const Element& element) {
  const uint64_t code = ScoreCode(element.score);
  RankRange ties = set.has_form()
                       ? set.Ranks(CodeRange{code, code})
                       : set.Ranks(ScoreRange{{.score = element.score}, {.score = element.score}});
  while (!ties.empty()) {
    const size_t middle = ties.first + ties.size() / 2;
    if (set.At(middle).member() < element.member) {
      ties.first = middle + 1;
    } else {
      ties.last = middle;
    }
  }
  return ties.first;
}

bool IsLower(const SortedSet& set, double a, double b) {
  return set.has_form() ? ScoreCode(a) < ScoreCode(b) : a < b;
}

// Returns the rank that the element would have: the number of other elements before it, or after it
// if `reversed`. If the member exists with another score, it is not counted.
size_t RankOfElement(const SortedSet& set, const Element& element, bool reversed) {
  const std::optional<double> present = set.Score(element.member);
  const size_t others = set.size() - present.has_value();
  const bool counts_itself = present && IsLower(set, *present, element.score);
  const size_t before = CountBefore(set, element) - counts_itself;
  return reversed ? others - before : before;
}

// ZRANKOF key score [member] [REV]
// A last word REV is the option, so a member of that name needs the option after it.
void ZRankOf(Call& call) {
  const std::string_view key = call.args.Word();
  const std::string_view text = call.args.Peek();
  const bool is_tuple = IsTupleText(text);
  double score = is_tuple ? (call.args.Word(), 0) : call.args.Float();
  const bool has_member = call.args.left() > 1 ||
                          (call.args.left() == 1 && !EqualsIgnoringCase(call.args.Peek(), "rev"));
  const std::string_view member = has_member ? call.args.Word() : std::string_view();
  const bool reversed = call.args.Take("rev");
  call.args.End();
  const SortedSet* set = call.Find<SortedSet>(key);
  if (set != nullptr && set->has_form()) {
    const std::optional<uint64_t> code = CodeIn(set->form(), text, score, call.now());
    if (!code) call.args.Refuse(NotAScore(set->form()));
    score = ScoreOf(code.value_or(0));
  } else if (set != nullptr && is_tuple) {
    call.args.Refuse(kNotAFloat);
  }
  if (call.Refused()) return;
  size_t rank = 0;
  if (set != nullptr) {
    rank = has_member ? RankOfElement(*set, {member, score}, reversed)
                      : CompetitionRank(*set, score, reversed);
  }
  call.reply.Integer(static_cast<int64_t>(rank));
}

// ZAROUND key member before after [REV] [WITHSCORES] [WITHDATA]
struct AroundRequest {
  uint64_t before = 0;
  uint64_t after = 0;
  bool reversed = false;
  ElementParts parts;

  // The ranks of the member and its existing neighbours.
  RankRange RanksIn(const SortedSet& set, size_t rank) const {
    assert(rank < set.size());
    const uint64_t below = std::min<uint64_t>(rank, reversed ? after : before);
    const uint64_t above = std::min<uint64_t>(set.size() - 1 - rank, reversed ? before : after);
    return {rank - below, rank + 1 + above};
  }
};

AroundRequest TakeAroundRequest(ArgReader& args) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  AroundRequest request;
  request.before = args.IntegerIn(0, kMost, kMustBePositive);
  request.after = args.IntegerIn(0, kMost, kMustBePositive);
  while (args.ok() && !args.AtEnd()) {
    if (!request.reversed && args.Take("rev")) {
      request.reversed = true;
    } else if (!request.parts.score && args.Take("withscores")) {
      request.parts.score = true;
    } else if (!request.parts.payload && args.Take("withdata")) {
      request.parts.payload = true;
    } else {
      args.Refuse(kSyntaxError);
    }
  }
  return request;
}

void ZAround(Call& call) {
  const std::string_view key = call.args.Word();
  const std::string_view member = call.args.Word();
  const AroundRequest request = TakeAroundRequest(call.args);
  const SortedSet* set = call.Find<SortedSet>(key);
  if (call.Refused()) return;
  const std::optional<size_t> rank = RankOf(set, member, /*reversed=*/false);
  if (!rank) return call.reply.NullArray();
  call.reply.Array(2);
  call.reply.Integer(static_cast<int64_t>(request.reversed ? set->size() - 1 - *rank : *rank));
  ReplyElements(call, set, request.RanksIn(*set, *rank), request.reversed, request.parts);
}

constexpr Command kZSetRankCommands[] = {
    {.name = "zrank",
     .run = ZRank,
     .arity = -3,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .member_at = 2,
     .concurrent = true,
     .group = CommandGroup::kSortedSet,
     .since = "2.0.0",
     .usage = "key member [WITHSCORE] [TIES <COMPETITION|ORDINAL>]",
     .summary = "Returns the rank of a member, lowest score first.",
     .cost = "O(log(N))"},
    {.name = "zrevrank",
     .run = ZRevRank,
     .arity = -3,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .member_at = 2,
     .concurrent = true,
     .group = CommandGroup::kSortedSet,
     .since = "2.0.0",
     .usage = "key member [WITHSCORE] [TIES <COMPETITION|ORDINAL>]",
     .summary = "Returns the rank of a member, highest score first.",
     .cost = "O(log(N))"},
    {.name = "zmrank",
     .run = ZMRank,
     .arity = -3,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .member_at = 2,
     .concurrent = true,
     .group = CommandGroup::kSortedSet,
     .since = kZsetdOnly,
     .usage = "key member [member ...]",
     .summary = "Returns the ranks of several members, lowest score first.",
     .cost = "O(log(N)) for each member"},
    {.name = "zmrevrank",
     .run = ZMRevRank,
     .arity = -3,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .member_at = 2,
     .concurrent = true,
     .group = CommandGroup::kSortedSet,
     .since = kZsetdOnly,
     .usage = "key member [member ...]",
     .summary = "Returns the ranks of several members, highest score first.",
     .cost = "O(log(N)) for each member"},
    {.name = "zrankof",
     .run = ZRankOf,
     .arity = -3,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kSortedSet,
     .since = kZsetdOnly,
     .usage = "key score [member] [REV]",
     .summary = "Returns the rank that a score, or a member with this score, would have.",
     .cost = "O(log(N)), with a member O(log(N)*log(T)) for T members with this score"},
    {.name = "zaround",
     .run = ZAround,
     .arity = -5,
     .flags = kReadOnly,
     .keys = kOneKey,
     .member_at = 2,
     .concurrent = true,
     .group = CommandGroup::kSortedSet,
     .since = kZsetdOnly,
     .usage = "key member before after [REV] [WITHSCORES] [WITHDATA]",
     .summary = "Returns the rank of a member, and the member among its neighbours.",
     .cost = "O(log(N)+M) for M members returned"},
};

}  // namespace

std::span<const Command> ZSetRankCommands() { return kZSetRankCommands; }

}  // namespace zsetd
