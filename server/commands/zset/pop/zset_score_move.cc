// ZMOVEBYSCORE and BZMOVEBYSCORE: elements move to another sorted set in the unit that removes
// them. A worker that takes a job in this way leases it: if the worker dies, the job is not lost.
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/sorted_set/sorted_set.h"
#include "core/sorted_set/timed_score_range.h"
#include "protocol/text/number_text.h"
#include "server/commands/common/formed_scores.h"
#include "server/commands/common/timeout_option.h"
#include "server/commands/zset/add/zset_form_add.h"
#include "server/commands/zset/families.h"
#include "server/commands/zset/pop/zset_moved.h"
#include "server/commands/zset/pop/zset_score_pop.h"
#include "server/commands/zset/zset_bounds.h"
#include "server/commands/zset/zset_cut.h"
#include "server/commands/zset/zset_exact.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

using Clock = TimedScoreBound::Clock;

constexpr std::string_view kAddWithoutClock =
    "ERR ADD is only supported in combination with now or nowms";

// source destination min max [REV] [COUNT count] [SCORE score|ADD delta] [WITHDATA]
struct ScoreMoveRequest {
  std::string_view source;
  std::string_view destination;
  ScorePopRequest pop;
  std::optional<double> score;  // SCORE
  std::optional<double> delta;  // ADD
  std::string_view number;      // the text of either
  bool is_tuple = false;        // SCORE is a tuple, and has no meaning for doubles

  bool IsWithinOneKey() const { return source == destination; }
  Clock clock() const {
    return pop.scores.max.clock == Clock::kNone ? pop.scores.min.clock : pop.scores.max.clock;
  }

  bool HasNewScore() const { return score || delta; }

  // The score of all moved elements; nullopt if they keep theirs. Refuses a
  // score that does not have the form of the set.
  std::optional<double> NewScore(Call& call, const SortedSet& set) const;
};

std::optional<double> ScoreMoveRequest::NewScore(Call& call, const SortedSet& set) const {
  if (!HasNewScore()) return std::nullopt;
  const double clock_score = delta ? TimedScoreBound{.clock = clock()}.At(call.now()).score : 0;
  if (!set.has_form()) {
    if (is_tuple) call.args.Refuse(kNotAFloat);
    return delta ? clock_score + *delta : *score;
  }
  const ScoreForm& form = set.form();
  std::optional<uint64_t> code = CodeIn(form, number, score.value_or(0), call.now());
  if (delta) {
    const std::optional<int64_t> summand = ParseInteger(number);
    const auto now = form.CodesUpTo(clock_score, /*exclusive=*/false, call.now());
    code = summand && now && !form.decays() ? form.Sum(now->last, *summand) : std::nullopt;
  }
  if (!code) call.args.Refuse(NotAScore(form));
  return ScoreOf(code.value_or(0));
}

// Takes SCORE or ADD with its number, of which one is allowed.
bool TakeScoreOption(Call& call, ScoreMoveRequest& request) {
  ArgReader& args = call.args;
  if (request.score || request.delta || args.left() < 2) return false;
  const bool is_sum = args.Take("add");
  if (!is_sum && !args.Take("score")) return false;
  const std::string_view text = args.Peek();
  request.number = text;
  request.is_tuple = !is_sum && IsTupleText(text);
  const double number = request.is_tuple ? (args.Word(), 0) : args.Float();
  if (call.keys.refuses_inexact_integers() && IsInexactInteger(text, number) &&
      !HasForm(call, request.source)) {
    args.Refuse(kInexactScore);
  }
  (is_sum ? request.delta : request.score) = number;
  return true;
}

ScoreMoveRequest TakeScoreMoveRequest(Call& call) {
  ArgReader& args = call.args;
  ScoreMoveRequest request;
  request.source = args.Word();
  request.destination = args.Word();
  request.pop.scores = TakeTimedScoreRange(args);
  while (args.ok() && !args.AtEnd()) {
    if (!TakeScorePopOption(args, request.pop) && !TakeScoreOption(call, request)) {
      args.Refuse(kSyntaxError);
    }
  }
  if (request.delta && request.clock() == Clock::kNone) args.Refuse(kAddWithoutClock);
  return request;
}

// Copies the elements, because the set changes next; their payloads, too, if they go to another
// set.
MovedElements CopyRanks(const SortedSet& set, RankRange ranks, std::optional<double> new_score,
                        bool stays) {
  MovedElements copies;
  copies.reserve(ranks.size());
  SortedSet::Cursor at = set.At(ranks.first);
  for (size_t left = ranks.size(); left > 0; --left, at.Next()) {
    const Element element = at.element();
    copies.push_back(
        {std::string(element.member), new_score.value_or(element.score), at.deadline()});
    if (!stays) copies.back().payload = at.payload();
  }
  return copies;
}

// The sets of a move, the ranks of the elements to move, and the score that all of them get;
// nullopt if they keep theirs. The destination is opened only if there is an element to move to
// another key; it may not exist.
struct OpenedMove {
  Edit<SortedSet> from;
  Edit<SortedSet> to;
  RankRange ranks;
  std::optional<double> new_score;
};

// Refuses a destination of another type or form if there is an element to move.
OpenedMove OpenMove(Call& call, const ScoreMoveRequest& request) {
  const bool is_within = request.IsWithinOneKey();
  OpenedMove move;
  move.from = call.Open<SortedSet>(request.source, is_within ? KeyEvent::kZAdd : KeyEvent::kZRem);
  if (!move.from) return move;
  CheckSuits(call, request.pop.scores, &*move.from);
  move.ranks = request.pop.RanksIn(*move.from, call.now());
  if (move.ranks.empty()) return move;
  move.new_score = request.NewScore(call, *move.from);
  if (is_within) return move;
  move.to = call.Open<SortedSet>(request.destination, KeyEvent::kZAdd);
  CheckSameForm(call, &*move.from, move.to ? &*move.to : nullptr);
  return move;
}

// Moves the elements, of which there is at least one. Within one key, the elements get their new
// scores in place.
void MoveOpened(Call& call, const ScoreMoveRequest& request, OpenedMove& move) {
  assert(!move.ranks.empty());
  const bool is_within = request.IsWithinOneKey();
  const ScoreForm form = move.from->form();
  MovedElements copies = CopyRanks(*move.from, move.ranks, move.new_score, is_within);
  if (is_within) {
    const uint32_t revision = move.from->revision();
    AddMoved(move.from, form, copies, /*stays=*/true);
    if (move.from->revision() == revision) return;
  } else {
    CutRanks(move.from, move.ranks);
    move.from = Edit<SortedSet>();  // an emptied source is deleted before the destination changes
    if (!move.to) move.to = call.keys.Make<SortedSet>(request.destination, KeyEvent::kZAdd);
    AddMoved(move.to, form, copies, /*stays=*/false);
  }
  PropagateMoved(call, request.source, request.destination, copies);
}

void ZMoveByScore(Call& call) {
  const ScoreMoveRequest request = TakeScoreMoveRequest(call);
  OpenedMove move = OpenMove(call, request);
  if (call.Refused()) return;
  if (move.ranks.empty()) return call.reply.Array(0);
  ReplyPopped(call, *move.from, move.ranks, request.pop);
  MoveOpened(call, request, move);
}

// BZMOVEBYSCORE timeout source destination min max [options]
void BZMoveByScore(Call& call) {
  const Millis timeout = TakeTimeout(call.args, call.now());
  const ScoreMoveRequest request = TakeScoreMoveRequest(call);
  OpenedMove move = OpenMove(call, request);
  if (call.Refused()) return;
  if (move.ranks.empty()) {
    if (!call.WaitForScores(request.source, request.pop.scores, timeout)) call.reply.NullArray();
    return;
  }
  ReplyKeyAndPopped(call, request.source, *move.from, move.ranks, request.pop);
  MoveOpened(call, request, move);
}

constexpr Command kZSetScoreMoveCommands[] = {
    {.name = "zmovebyscore",
     .run = ZMoveByScore,
     .arity = -5,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kTwoKeys,
     .group = CommandGroup::kSortedSet,
     .since = kZsetdOnly,
     .usage = "source destination min max [REV] [COUNT count] [SCORE score|ADD delta] "
              "[WITHDATA]",
     .summary = "Moves the lowest- or highest-scoring members in a range of scores to another "
                "sorted set, and returns them.",
     .cost = "O(M*log(N)) for M members moved",
     .key_use = "RW access delete,RW insert"},
    {.name = "bzmovebyscore",
     .run = BZMoveByScore,
     .arity = -6,
     .flags = kWrite | kDenyOom | kBlocking | kFast,
     .keys = {.first = 2, .last = 3, .step = 1},
     .group = CommandGroup::kSortedSet,
     .since = kZsetdOnly,
     .usage = "timeout source destination min max [REV] [COUNT count] [SCORE score|ADD delta] "
              "[WITHDATA]",
     .summary = "Like ZMOVEBYSCORE; blocks until a member is in the range.",
     .cost = "O(M*log(N)) for M members moved",
     .key_use = "RW access delete,RW insert"},
};

}  // namespace

std::span<const Command> ZSetScoreMoveCommands() { return kZSetScoreMoveCommands; }

}  // namespace zsetd
