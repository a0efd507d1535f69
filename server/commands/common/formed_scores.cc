#include "server/commands/common/formed_scores.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "protocol/text/number_text.h"
#include "server/commands/common/propagated_value.h"
#include "server/engine/propagation/effects.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/score_text.h"

namespace zsetd {
namespace {

constexpr size_t kMostTupleWords = 64;
constexpr std::string_view kBadForm =
    "ERR FORM should be DOUBLE, INT64, TUPLE with fields of at most 64 bits in total and END, or "
    "HALFLIFE with 1 to 1000000000 seconds";

// Whether a form that starts with this word has one more word, or a list of words up to END.
bool HasOneMoreWord(std::string_view word) { return EqualsIgnoringCase(word, "halflife"); }
bool HasMoreWords(std::string_view word) { return EqualsIgnoringCase(word, "tuple"); }

// Whether the double of a score is that of no other score.
bool IsExactElsewhere(const ScoreForm& form, double rounded) {
  constexpr double kFirstRounded = 9007199254740992;  // 2^53
  return form.decays() || std::abs(rounded) < kFirstRounded;
}

// The part of the range without elements at its ends that have the rounded score of an element
// outside. O(elements left out).
RankRange WithoutDividedTies(const SortedSet& set, RankRange ranks) {
  const ScoreForm& form = set.form();
  const auto rounded_at = [&](size_t rank) { return PlainScore(form, set.At(rank).score()); };
  if (ranks.first > 0) {
    const double outside = rounded_at(ranks.first - 1);
    SortedSet::Cursor at = set.At(ranks.first);
    while (!IsExactElsewhere(form, outside) && PlainScore(form, at.score()) == outside) {
      if (++ranks.first == ranks.last) return ranks;
      at.Next();
    }
  }
  if (ranks.last < set.size()) {
    const double outside = rounded_at(ranks.last);
    SortedSet::Cursor at = set.At(ranks.last - 1);
    while (!IsExactElsewhere(form, outside) && PlainScore(form, at.score()) == outside) {
      if (--ranks.last == ranks.first) return ranks;
      at.Previous();
    }
  }
  return ranks;
}

}  // namespace

std::optional<uint64_t> CodeIn(const ScoreForm& form, std::string_view text, double number,
                               Millis now) {
  if (!form.decays()) return form.Code(text);
  return IsTupleText(text) ? std::nullopt : form.Code(number, now);
}

std::string NotAScore(const ScoreForm& form) {
  if (form.decays())
    return "ERR scores and increments with a half-life are finite numbers from 0 up";
  if (form.kind() == ScoreForm::Kind::kInt64) return std::string(kNotAnInteger);
  return "ERR score is not of the form " + form.Text();
}

ScoreForm TakeScoreForm(ArgReader& args) {
  std::string text(args.Word());
  if (HasOneMoreWord(text)) {
    text += ' ';
    text += args.Word();
  } else if (HasMoreWords(text)) {
    size_t words = 0;
    while (args.ok() && !args.Take("end")) {
      if (++words > kMostTupleWords) args.Refuse(kBadForm);
      text += ' ';
      text += args.Word();
    }
  }
  if (!args.ok()) return {};
  const std::optional<ScoreForm> form = ScoreForm::Read(text);
  if (!form) args.Refuse(kBadForm);
  return form.value_or(ScoreForm());
}

std::vector<std::string> FormWords(const ScoreForm& form) {
  std::vector<std::string> words = {"FORM"};
  const std::string text = form.Text();
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  if (form.kind() == ScoreForm::Kind::kTuple) words.push_back("END");
  if (form.decays()) words.push_back("LOG2");
  return words;
}

void PropagatedScores::Add(std::string_view member, double score) {
  if (!call_.Propagates()) return;
  items_.push_back(
      {std::string(member), StoredScoreText(form_, score), DoubleText(PlainScore(form_, score))});
  if (items_.size() == Effects::kMostItems) Flush();
}

void PropagatedScores::Flush() {
  if (items_.empty()) return;
  const std::vector<std::string> form = FormWords(form_);
  const std::string count = IntegerText(static_cast<int64_t>(items_.size()));
  std::vector<std::string_view> exact = {keeps_deadlines_ ? "ZADDEX" : "ZADD", key_};
  if (keeps_deadlines_) exact.push_back("KEEPTTL");
  exact.insert(exact.end(), form.begin(), form.end());
  if (keeps_deadlines_) exact.insert(exact.end(), {"MEMBERS", count});
  std::vector<std::string_view> plain = {"ZADD", key_};
  for (const Item& item : items_) {
    exact.insert(exact.end(), {item.exact, item.member});
    plain.insert(plain.end(), {item.plain, item.member});
  }
  call_.PropagateTwice(exact, plain);
  items_.clear();
}

RemovedMembers::RemovedMembers(Call& call, const SortedSet& set, RankRange ranks)
    : call_(call), has_form_(set.has_form()) {
  if (!has_form_ || !call.Propagates() || ranks.empty()) return;
  const bool is_short = ranks.size() <= Effects::kMostItems;
  const RankRange inner =
      is_short ? RankRange{ranks.last, ranks.last} : WithoutDividedTies(set, ranks);
  Name(set, {ranks.first, inner.first});
  Name(set, {inner.last, ranks.last});
  others_ = {ranks.first, ranks.first + inner.size()};  // when the others are removed
}

void RemovedMembers::Name(const SortedSet& set, RankRange ranks) {
  if (ranks.empty()) return;
  SortedSet::Cursor at = set.At(ranks.first);
  for (size_t left = ranks.size(); left > 0 && at.valid(); --left, at.Next()) {
    members_.emplace_back(at.member());
  }
}

bool RemovedMembers::Propagate(std::string_view key) {
  if (!has_form_) return false;
  PropagatedItems items(call_, "ZREM", key, members_.size());
  for (const std::string& member : members_) items.Add({member});
  if (others_.empty()) return true;
  call_.Propagate({"ZREMRANGEBYRANK", key, IntegerText(static_cast<int64_t>(others_.first)),
                   IntegerText(static_cast<int64_t>(others_.last) - 1)});
  return true;
}

}  // namespace zsetd
