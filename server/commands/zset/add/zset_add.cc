// ZADD and ZINCRBY.
#include "server/commands/zset/add/zset_add.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/sorted_set/sorted_set.h"
#include "protocol/text/number_text.h"
#include "server/commands/common/expiry_option.h"
#include "server/commands/common/formed_scores.h"
#include "server/commands/zset/add/zset_form_add.h"
#include "server/commands/zset/families.h"
#include "server/commands/zset/zset_cut.h"
#include "server/commands/zset/zset_exact.h"
#include "server/commands/zset/zset_reply.h"
#include "server/engine/call.h"
#include "server/engine/command/usage_text.h"
#include "server/engine/support/ascii_case.h"

namespace zsetd {
namespace {

using Kind = AddResult::Kind;

bool TakeFlag(ArgReader& args, std::string_view name, bool& flag) {
  if (!args.Take(name)) return false;
  flag = true;
  return true;
}

// The options that are allowed both before and after the pairs.
class SharedOptions {
 public:
  SharedOptions(Call& call, AddRequest& request) : call_(call), request_(request) {}

  // Takes the next argument if it is an option. Returns whether it was.
  bool Take() { return TakeIncrement() || TakeButIncrement(); }

  bool TakeButIncrement() { return TakeExpiry() || TakeCap(); }

  // Must be called after everything else has been checked.
  std::optional<Millis> Deadline() {
    if (!expiry_ || !call_.args.ok()) return std::nullopt;
    return DeadlineOf(call_, *expiry_);
  }

 private:
  bool TakeIncrement() {
    if (!call_.args.Take("incr")) return false;
    if (request_.rule.increment && after_pairs()) call_.args.Refuse(kSyntaxError);
    request_.rule.increment = true;
    request_.is_extended |= after_pairs();
    return true;
  }

  bool TakeExpiry() {
    const std::optional<ExpiryOption> option = TakeExpiryOption(call_.args);
    if (!option && !call_.args.Take("keepttl")) return false;
    if (std::exchange(expiry_given_, true)) call_.args.Refuse(kSyntaxError);
    expiry_ = option;
    request_.is_extended = true;
    return true;
  }

  bool TakeCap() {
    const std::optional<SizeCap> cap = TakeSizeCap(call_.args);
    if (!cap) return false;
    if (request_.cap) call_.args.Refuse(kSyntaxError);
    request_.cap = cap;
    request_.is_extended = true;
    return true;
  }

  bool after_pairs() const { return !request_.pairs.empty(); }

  Call& call_;
  AddRequest& request_;
  std::optional<ExpiryOption> expiry_;  // nullopt for KEEPTTL
  bool expiry_given_ = false;
};

// Takes GET, or IFEQ with its score. IFEQ implies XX.
bool TakeComparison(ArgReader& args, AddRequest& request) {
  if (args.Take("get")) {
    request.gets_scores = true;
  } else if (!request.expected && args.Take("ifeq")) {
    request.expected_text = args.Peek();
    const bool is_tuple = IsTupleText(request.expected_text);
    request.needs_form |= is_tuple;
    request.expected = is_tuple ? (args.Word(), 0) : args.Float();
    request.rule.only_existing = true;
  } else {
    return false;
  }
  return request.is_extended = true;
}

void CheckRequest(ArgReader& args, const AddRequest& request) {
  const AddRule& rule = request.rule;
  if (request.expected && rule.only_new) {
    args.Refuse("ERR IFEQ and NX options at the same time are not compatible");
  }
  if (request.gets_scores && (rule.increment || request.count_changed)) {
    args.Refuse("ERR GET is not compatible with CH and INCR");
  }
  CheckRule(args, rule);
  CheckIncrement(args, rule, request.pairs.size() + args.left() / 2);
}

// Refuses an argument that is neither a score nor an option. As in Redis, the number of arguments
// is checked first, then the options, then the scores.
void RefuseScore(ArgReader& args, const AddRequest& request) {
  if (args.AtEnd() || args.left() % 2 != 0) args.Refuse(kSyntaxError);
  CheckRequest(args, request);
  args.Refuse(kNotAFloat);
}

// Whether IFEQ allows a change of the member.
bool IsExpected(const Edit<SortedSet>& set, const AddRequest& request, std::string_view member) {
  return !request.expected || (set && set->Score(member) == request.expected);
}

// Adds all pairs with GET or IFEQ: compares each with the present score before it is added. Removes
// the pairs that IFEQ does not allow from the request.
void AddComparing(Call& call, Edit<SortedSet>& set, AddRequest& request) {
  if (request.gets_scores) call.reply.Array(request.pairs.size());
  if (set) set.Announce(request.pairs.size(), request.pairs.front().member);
  AddRequest::Pairs allowed;
  int64_t counted = 0;
  for (const Element& pair : request.pairs) {
    const std::optional<double> old = set ? set->Score(pair.member) : std::nullopt;
    if (request.gets_scores) ReplyScore(call, set ? &*set : nullptr, old);
    if (!set || (request.expected && old != request.expected)) continue;
    const AddResult result = set.Add(pair.member, pair.score, request.rule);
    counted += request.count_changed ? result.Changed() : result.kind == Kind::kAdded;
    allowed.push_back(pair);
  }
  if (!request.gets_scores) call.reply.Integer(counted);
  request.pairs = std::move(allowed);
}

// Removes the excess elements as a separate change. Returns their ranks.
RankRange Trim(Call& call, std::string_view key, Edit<SortedSet>& set, const SizeCap& cap) {
  const RankRange excess = cap.ExcessOf(set->size());
  if (excess.empty()) return excess;
  set = Edit<SortedSet>();  // this reports the addition
  set = call.Open<SortedSet>(key, KeyEvent::kZRemRangeByRank);
  CutRanks(set, excess);
  return excess;
}

// Performs the other steps of the request after the addition. `before` is the set's revision before
// it.
void EndAddition(Call& call, std::string_view key, Edit<SortedSet>& set, const AddRequest& request,
                 uint32_t before) {
  if (!set || !request.is_extended) return;
  const bool changed = set->revision() != before;
  const bool is_trimmed = request.cap && !set->empty();
  const RankRange excess = is_trimmed ? Trim(call, key, set, *request.cap) : RankRange();
  if (request.deadline) set.ExpireAt(*request.deadline);
  PropagateAddition(call, key, set, request, changed, excess);
}

void ZAdd(Call& call) {
  const std::string_view key = call.args.Word();
  AddRequest request = TakeAddRequest(call);
  Edit<SortedSet> set = OpenToAdd(call, key, request.rule);
  if (call.Refused()) return;
  if (IsFormed(set, request)) [[unlikely]]
    return AddFormed(call, key, set, request);
  const uint32_t revision = set ? set->revision() : 0;
  if (request.rule.increment) {
    if (IsExpected(set, request, request.pairs[0].member)) {
      Increment(call, set, request.pairs[0], request.rule);
    } else {
      call.reply.Null();
    }
  } else if (request.gets_scores || request.expected) {
    AddComparing(call, set, request);
  } else {
    AddAll(call, set, request);
  }
  if (!call.refused()) EndAddition(call, key, set, request, revision);
}

// ZINCRBY key increment member [FORM form] [EX seconds | PX ms | EXAT seconds | PXAT ms | KEEPTTL]
//         [MAXLEN count [KEEP HIGHEST|LOWEST]]
// The options come in either order.
void ZIncrBy(Call& call) {
  const std::string_view key = call.args.Word();
  const std::string_view text = call.args.Peek();
  const double increment = call.args.Float();
  if (call.keys.refuses_inexact_integers() && IsInexactInteger(text, increment) &&
      !HasForm(call, key)) {
    call.args.Refuse(kInexactScore);
  }
  const std::string_view member = call.args.Word();
  AddRequest request = {.rule = {.increment = true}, .pairs = {{member, increment}}};
  request.pair_words = call.argv().subspan(2, 2);
  SharedOptions shared(call, request);
  while (call.args.ok() && (shared.TakeButIncrement() || TakeFormOption(call.args, request))) {
  }
  if (!request.is_extended && !call.args.AtEnd()) call.args.Refuse(WrongArity("zincrby"));
  call.args.End();
  request.deadline = shared.Deadline();
  Edit<SortedSet> set = OpenToAdd(call, key, request.rule);
  if (call.Refused()) return;
  if (IsFormed(set, request)) [[unlikely]]
    return AddFormed(call, key, set, request);
  const uint32_t revision = set->revision();
  Increment(call, set, request.pairs[0], request.rule);
  if (!call.refused()) EndAddition(call, key, set, request, revision);
}

// Returns the words between the key and the first score. No option is a number, except the value of
// one of these and the fields of a tuple.
Args LeadingOptions(Args argv) {
  constexpr std::string_view kValued[] = {"ifeq", "ex", "px", "exat", "pxat", "maxlen", "halflife"};
  const auto is = [&](size_t at, std::string_view word) {
    return EqualsIgnoringCase(argv[at], word);
  };
  size_t end = 2;
  while (end < argv.size()) {
    if (is(end, "tuple")) {
      while (end < argv.size() && !is(end, "end")) ++end;
    } else if (std::ranges::any_of(kValued, [&](std::string_view word) { return is(end, word); })) {
      end += 2;
    } else if (ParseDouble(argv[end]) || IsTupleText(argv[end])) {
      break;
    } else {
      ++end;
    }
  }
  return argv.subspan(2, std::min(end, argv.size()) - 2);
}

constexpr std::string_view kScoreReadingOptions[] = {"GET"};

constexpr Command kZSetAddCommands[] = {
    {.name = "zadd",
     .run = ZAdd,
     .arity = -4,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kOneKey,
     .member_at = 3,
     .group = CommandGroup::kSortedSet,
     .since = "1.2.0",
     .usage = kUsage<"key [NX|XX] [GT|LT] [CH] [INCR] [GET] [IFEQ comparison-score] ", kScoreForm,
                     " ", kSetsTime, " ", kMostMembers, " score member [score member ...]">,
     .summary = "Adds members or updates their scores; can set the key's expiration and limit its "
                "size too.",
     .cost = "O(log(N)) for each member",
     .key_use = "RW update",
     .variable_use = {"RW access update", "RW update", kScoreReadingOptions, 2, LeadingOptions}},
    {.name = "zincrby",
     .run = ZIncrBy,
     .arity = -4,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kOneKey,
     .member_at = 3,
     .group = CommandGroup::kSortedSet,
     .since = "1.2.0",
     .usage = kUsage<"key increment member ", kScoreForm, " ", kSetsTime, " ", kMostMembers>,
     .summary = "Increments the score of a member; can set the key's expiration and limit its size "
                "too.",
     .cost = "O(log(N))"},
};

}  // namespace

RankRange SizeCap::ExcessOf(size_t size) const {
  assert(most > 0);
  if (size <= most) return {};
  return keep_lowest ? RankRange{most, size} : RankRange{0, size - most};
}

std::optional<SizeCap> TakeSizeCap(ArgReader& args) {
  if (!args.Take("maxlen")) return std::nullopt;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  SizeCap cap;
  cap.most = args.IntegerIn(1, kMost, "ERR MAXLEN should be greater than 0");
  if (!args.Take("keep")) return cap;
  cap.keep_lowest = args.Take("lowest");
  if (!cap.keep_lowest && !args.Take("highest")) args.Refuse(kSyntaxError);
  return cap;
}

bool TakeRuleOption(ArgReader& args, AddRequest& request) {
  AddRule& rule = request.rule;
  return TakeFlag(args, "nx", rule.only_new) || TakeFlag(args, "xx", rule.only_existing) ||
         TakeFlag(args, "gt", rule.only_greater) || TakeFlag(args, "lt", rule.only_less) ||
         TakeFlag(args, "ch", request.count_changed);
}

bool TakeFormOption(ArgReader& args, AddRequest& request) {
  if (!args.Take("form")) return false;
  if (request.form != nullptr) args.Refuse(kSyntaxError);
  const ScoreForm form = TakeScoreForm(args);
  const bool has_stored_scores = form.decays() && args.Take("log2");
  request.form = std::make_unique<const AddRequest::RequestedForm>(
      AddRequest::RequestedForm{form, has_stored_scores});
  request.needs_form |= !form.is_double();
  return request.is_extended = true;
}

void TakePairs(Call& call, ArgReader& args, AddRequest& request) {
  const bool only_exact = call.keys.refuses_inexact_integers();
  const size_t first = call.argv().size() - args.left();
  while (args.ok()) {
    const std::string_view text = args.Peek();
    const std::optional<double> score = ParseDouble(text);
    if (!score && (args.AtEnd() || !IsTupleText(text))) break;
    args.Word();
    if (!score) request.needs_form = true;
    if (only_exact && score && IsInexactInteger(text, *score) && !request.needs_form &&
        !HasForm(call, call.argv()[1])) {
      args.Refuse(kInexactScore);
    }
    const std::string_view member = args.Word();
    if (!args.ok()) return;
    request.pairs.push_back({member, score.value_or(0)});
  }
  request.pair_words = call.argv().subspan(first, 2 * request.pairs.size());
}

AddRequest TakeAddRequest(Call& call) {
  ArgReader& args = call.args;
  AddRequest request;
  SharedOptions shared(call, request);
  while (args.MayTakeOption() && (TakeRuleOption(args, request) || TakeComparison(args, request) ||
                                  TakeFormOption(args, request) || shared.Take())) {
  }
  TakePairs(call, args, request);
  if (request.pairs.empty() || (!args.AtEnd() && !shared.Take())) RefuseScore(args, request);
  while (args.ok() && !args.AtEnd()) {
    if (!shared.Take()) args.Refuse(kSyntaxError);
  }
  CheckRequest(args, request);
  request.deadline = shared.Deadline();
  return request;
}

void CheckRule(ArgReader& args, const AddRule& rule) {
  if (rule.only_new && rule.only_existing) {
    args.Refuse("ERR XX and NX options at the same time are not compatible");
  }
  if ((rule.only_greater && rule.only_new) || (rule.only_less && rule.only_new) ||
      (rule.only_greater && rule.only_less)) {
    args.Refuse("ERR GT, LT, and/or NX options at the same time are not compatible");
  }
}

Edit<SortedSet> OpenToAdd(Call& call, std::string_view key, const AddRule& rule) {
  const KeyEvent event = rule.increment ? KeyEvent::kZIncr : KeyEvent::kZAdd;
  return rule.only_existing ? call.Open<SortedSet>(key, event)
                            : call.OpenOrMake<SortedSet>(key, event);
}

bool Increment(Call& call, Edit<SortedSet>& set, const Element& pair, const AddRule& rule) {
  assert(rule.increment);
  if (set && !rule.only_new && call.keys.refuses_inexact_integers()) {
    const std::optional<double> current = set->Score(pair.member);
    if (current && IsInexactSum(*current, pair.score)) {
      call.Fail(kInexactSum);
      return false;
    }
  }
  const AddResult result =
      set ? set.Add(pair.member, pair.score, rule) : AddResult{.kind = Kind::kRefused};
  if (result.kind == Kind::kNotANumber) {
    call.Fail("ERR resulting score is not a number (NaN)");
  } else if (result.kind == Kind::kRefused) {
    call.reply.Null();
  } else {
    call.reply.Double(result.kind == Kind::kAdded ? pair.score : result.score);
  }
  return !result.IsRefused();
}

void CheckIncrement(ArgReader& args, const AddRule& rule, size_t pairs) {
  if (rule.increment && pairs > 1) {
    args.Refuse("ERR INCR option supports a single increment-element pair");
  }
}

int64_t AddPairs(Edit<SortedSet>& set, const AddRequest& request,
                 std::vector<std::string_view>* accepted) {
  assert(!request.pairs.empty());
  if (!set) return 0;
  set.Announce(request.pairs.size(), request.pairs.front().member);
  int64_t counted = 0;
  for (const Element& pair : request.pairs) {
    const AddResult result = set.Add(pair.member, pair.score, request.rule);
    counted += request.count_changed ? result.Changed() : result.kind == Kind::kAdded;
    if (accepted != nullptr && !result.IsRefused()) accepted->push_back(pair.member);
  }
  return counted;
}

void AddAll(Call& call, Edit<SortedSet>& set, const AddRequest& request) {
  call.reply.Integer(AddPairs(set, request));
}

void PropagatePairs(Call& call, std::string_view key, const AddRequest& request) {
  const AddRule& rule = request.rule;
  std::vector<std::string_view> words = {"ZADD", key};
  if (rule.only_new) words.push_back("NX");
  if (rule.only_existing) words.push_back("XX");
  if (rule.only_greater) words.push_back("GT");
  if (rule.only_less) words.push_back("LT");
  if (rule.increment) words.push_back("INCR");
  std::vector<std::string> scores;
  scores.reserve(request.pairs.size());
  for (const Element& pair : request.pairs) {
    words.push_back(scores.emplace_back(DoubleText(pair.score)));
    words.push_back(pair.member);
  }
  call.Propagate(words);
}

std::span<const Command> ZSetAddCommands() { return kZSetAddCommands; }

void PropagateAddition(Call& call, std::string_view key, const Edit<SortedSet>& set,
                       const AddRequest& request, bool changed, RankRange excess) {
  if (!call.Propagates() || !set || set->empty()) return;
  if (request.deadline && *request.deadline <= call.now()) return call.Propagate({"DEL", key});
  if (changed) PropagatePairs(call, key, request);
  if (!excess.empty()) {
    call.Propagate({"ZREMRANGEBYRANK", key, IntegerText(static_cast<int64_t>(excess.first)),
                    IntegerText(static_cast<int64_t>(excess.last) - 1)});
  }
  if (request.deadline) {
    call.Propagate({"PEXPIREAT", key, IntegerText(request.deadline->count())});
  }
}

}  // namespace zsetd
