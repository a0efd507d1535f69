#include "server/commands/zset/add/zset_form_add.h"

#include <cassert>
#include <string>

#include "protocol/text/number_text.h"
#include "server/commands/common/formed_scores.h"
#include "server/commands/zset/zset_cut.h"
#include "server/commands/zset/zset_reply.h"
#include "server/engine/support/score_text.h"

namespace zsetd {
namespace {

constexpr std::string_view kDecayingIfEq =
    "ERR IFEQ is not supported for scores with a half-life, which are never equal for long";

// Removes the excess elements as a separate change, and propagates their removal.
void TrimFormed(Call& call, std::string_view key, Edit<SortedSet>& set, const SizeCap& cap) {
  const RankRange excess = cap.ExcessOf(set->size());
  if (excess.empty()) return;
  RemovedMembers members(call, *set, excess);
  set = Edit<SortedSet>();  // this reports the addition
  set = call.Open<SortedSet>(key, KeyEvent::kZRemRangeByRank);
  CutRanks(set, excess);
  members.Propagate(key);
}

}  // namespace

bool HasForm(Call& call, std::string_view key) {
  const Entry* const entry = call.keys.Peek(key);
  const SortedSet* const set = entry == nullptr ? nullptr : entry->GetIf<SortedSet>();
  return set != nullptr && set->has_form();
}

bool FormedAddition::Fail(std::string_view line) {
  call_.Fail(line);
  return false;
}

// Without a set the scores have the requested form. If the request does not name one, any text that
// a form could have is a score.
bool FormedAddition::Prepare() {
  if (set_) return TakeFormOfSet() && ReadScores();
  if (request_.form == nullptr) return true;
  return request_.form->form.is_double() ? Fail(kNotAFloat) : ReadScores();
}

const ScoreForm& FormedAddition::form() const { return set_ ? set_->form() : request_.form->form; }

bool FormedAddition::TakeFormOfSet() {
  const bool requests_form = request_.form != nullptr && !request_.form->form.is_double();
  if (set_->has_form()) {
    const bool is_same = request_.form == nullptr || request_.form->form == set_->form();
    return is_same || Fail(kOtherForm);
  }
  if (!requests_form) return Fail(kNotAFloat);
  if (!set_->empty()) return Fail(kOtherForm);
  return set_->SetForm(request_.form->form) || Fail(kTooManyForms);
}

bool FormedAddition::ReadScores() {
  const ScoreForm& form = this->form();
  if (request_.pair_words.empty()) return Fail(kNoPositions);
  assert(request_.pair_words.size() == 2 * request_.pairs.size());
  if (request_.expected && form.decays()) return Fail(kDecayingIfEq);
  if (request_.form && request_.form->has_stored_scores && request_.rule.increment) {
    return Fail(kSyntaxError);
  }
  if (request_.expected) {
    expected_ = form.Code(request_.expected_text);
    if (!expected_) return Fail(NotAScore(form));
  }
  if (request_.rule.increment && !form.decays()) {
    increment_ = ParseInteger(request_.pair_words[0]);
    return increment_ || Fail(kNotAnInteger);
  }
  for (size_t i = 0; i < request_.pairs.size(); ++i) {
    const Code code = CodeOfPair(i);
    if (!code) return Fail(NotAScore(form));
    codes_.push_back(*code);
  }
  return true;
}

FormedAddition::Code FormedAddition::CodeOfPair(size_t i) const {
  const std::string_view text = request_.pair_words[2 * i];
  const double number = WithoutNegativeZero(request_.pairs[i].score);
  if (request_.form != nullptr && request_.form->has_stored_scores) {
    const bool is_stored = !IsTupleText(text) && HalfLife::IsStored(number);
    return is_stored ? Code(ScoreCode(number)) : std::nullopt;
  }
  return CodeIn(form(), text, number, call_.now());
}

FormedAddition::Code FormedAddition::Present(std::string_view member) const {
  const std::optional<double> score = set_ ? set_->Score(member) : std::nullopt;
  return score ? Code(ScoreCode(*score)) : std::nullopt;
}

FormedAddition::Code FormedAddition::NewCode(size_t i, Code present) const {
  const ScoreForm& form = set_->form();
  if (increment_) return form.Sum(present.value_or(form.ZeroCode()), *increment_);
  const bool adds = request_.rule.increment && present;
  return adds ? form.SumOfScores(*present, codes_[i]) : codes_[i];
}

// Whether the rule allows this score. NX and XX are checked before the score is computed.
bool FormedAddition::IsAllowed(Code present, uint64_t code) const {
  if (!present) return true;
  const bool rises_as_required = !request_.rule.only_greater || code > *present;
  return rises_as_required && (!request_.rule.only_less || code < *present);
}

std::vector<Element> FormedAddition::Run() {
  std::vector<Element> added;
  if (request_.gets_scores) call_.reply.Array(request_.pairs.size());
  if (set_) set_.Announce(request_.pairs.size(), request_.pairs.front().member);
  const AddRule& rule = request_.rule;
  int64_t counted = 0;
  for (size_t i = 0; i < request_.pairs.size(); ++i) {
    const std::string_view member = request_.pairs[i].member;
    const Code present = Present(member);
    if (request_.gets_scores) {
      const auto old = present ? std::optional(ScoreOf(*present)) : std::nullopt;
      ReplyScore(call_, set_ ? &*set_ : nullptr, old);
    }
    if (!set_ || (expected_ && present != expected_)) continue;
    if (present ? rule.only_new : rule.only_existing) continue;
    const Code code = NewCode(i, present);
    if (!code) {
      call_.Fail(kScoreOverflow);
      return {};
    }
    if (!IsAllowed(present, *code)) continue;
    const AddResult result = set_.Place(member, *code, rule.increment || rule.keep_deadline);
    counted += request_.count_changed ? result.Changed() : result.kind == AddResult::Kind::kAdded;
    added.push_back({member, result.score});
  }
  if (rule.increment) {
    ReplyIncrement(added);
  } else if (!request_.gets_scores) {
    call_.reply.Integer(counted);
  }
  return added;
}

void FormedAddition::ReplyIncrement(const std::vector<Element>& added) {
  if (added.empty()) return call_.reply.Null();
  ReplyScore(call_, &*set_, added.front().score);
}

void AddFormed(Call& call, std::string_view key, Edit<SortedSet>& set, const AddRequest& request) {
  FormedAddition addition(call, set, request);
  if (!addition.Prepare()) return;
  const uint32_t revision = set ? set->revision() : 0;
  const std::vector<Element> added = addition.Run();
  if (call.refused() || !set || set->empty()) return;
  if (set->revision() != revision) {
    PropagatedScores scores(call, key, set->form(), request.rule.increment);
    for (const Element& element : added) scores.Add(element.member, element.score);
  }
  if (request.cap) TrimFormed(call, key, set, *request.cap);
  if (!request.deadline) return;
  set.ExpireAt(*request.deadline);
  if (!call.Propagates()) return;
  if (*request.deadline <= call.now()) return call.Propagate({"DEL", key});
  call.Propagate({"PEXPIREAT", key, IntegerText(request.deadline->count())});
}

}  // namespace zsetd
