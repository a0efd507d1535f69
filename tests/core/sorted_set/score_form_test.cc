// Forms of scores: texts, codes and their order. Sets of codes are compared with a model.
#include "core/sorted_set/form/score_form.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/sorted_set/operations/formed_operations.h"
#include "core/sorted_set/sorted_set.h"
#include "core/sorted_set/sorted_set_builder.h"
#include "core/sorted_set/timed_score_range.h"
#include "core/util/rng.h"

namespace zsetd::score_form_test {
namespace {

ScoreForm Read(std::string_view text) {
  const std::optional<ScoreForm> form = ScoreForm::Read(text);
  EXPECT_TRUE(form) << text;
  return form.value_or(ScoreForm());
}

TEST(ScoreForm, ReadsItsText) {
  for (const std::string text :
       {"DOUBLE", "INT64", "TUPLE 64", "TUPLE 32 31:DESC", "TUPLE 1 1 1"}) {
    EXPECT_EQ(Read(text).Text(), text);
  }
  EXPECT_EQ(Read("tuple 8:asc 8:desc").Text(), "TUPLE 8 8:DESC");
  for (const std::string text :
       {"", "INT", "INT64 8", "DOUBLE 1", "TUPLE", "TUPLE 0", "TUPLE 65", "TUPLE 32 33", "TUPLE -1",
        "TUPLE 8:UP", "TUPLE 8  8", "TUPLE x", "TUPLE 18446744073709551617"}) {
    EXPECT_FALSE(ScoreForm::Read(text)) << text;
  }
}

TEST(ScoreForm, IntegersAreExactAndInOrder) {
  const ScoreForm form = ScoreForm::Int64();
  std::optional<uint64_t> last;
  for (const std::string text : {"-9223372036854775808", "-9223372036854775807", "-1", "0", "1",
                                 "9007199254740992", "9007199254740993", "9223372036854775807"}) {
    const std::optional<uint64_t> code = form.Code(text);
    ASSERT_TRUE(code) << text;
    EXPECT_EQ(form.ScoreText(*code), text);
    EXPECT_TRUE(!last || *last < *code) << text;
    last = code;
  }
  EXPECT_EQ(form.Code("+5"), form.Code("5"));
  for (const std::string text :
       {"", "1.5", "1e3", "inf", "9223372036854775808", " 1", "1 ", "--1"}) {
    EXPECT_FALSE(form.Code(text)) << text;
  }
}

TEST(ScoreForm, TuplesCompareFieldByField) {
  const ScoreForm form = Read("TUPLE 32 31:DESC");
  std::optional<uint64_t> last;
  for (const std::string text : {"0/2147483647", "0/1", "0/0", "1/2147483647", "3100/1795478001",
                                 "3100/1795478000", "3101/2147483647", "4294967295/0"}) {
    const std::optional<uint64_t> code = form.Code(text);
    ASSERT_TRUE(code) << text;
    EXPECT_TRUE(form.IsCode(*code));
    EXPECT_EQ(form.ScoreText(*code), text);
    EXPECT_TRUE(!last || *last < *code) << text;
    last = code;
  }
  EXPECT_FALSE(form.IsCode(uint64_t{1} << 63));
  for (const std::string text :
       {"", "1", "1/", "/1", "1/2/3", "1/2147483648", "4294967296/0", "-1/0", "1.5/0", "1 /2"}) {
    EXPECT_FALSE(form.Code(text)) << text;
  }
  EXPECT_EQ(Read("TUPLE 64:DESC").ScoreText(0), "18446744073709551615");
}

TEST(ScoreForm, SumsRefuseOverflow) {
  const ScoreForm integers = ScoreForm::Int64();
  EXPECT_EQ(integers.Sum(*integers.Code("-3"), 5), integers.Code("2"));
  EXPECT_FALSE(integers.Sum(*integers.Code("9223372036854775807"), 1));
  EXPECT_FALSE(integers.Sum(*integers.Code("-9223372036854775808"), -1));
  for (const std::string text : {"TUPLE 8 8:DESC", "TUPLE 8:DESC 8"}) {
    const ScoreForm tuples = Read(text);
    EXPECT_EQ(tuples.Sum(*tuples.Code("5/7"), 250), tuples.Code("255/7"));
    EXPECT_EQ(tuples.Sum(*tuples.Code("5/7"), -5), tuples.Code("0/7"));
    EXPECT_FALSE(tuples.Sum(*tuples.Code("5/7"), 251));
    EXPECT_FALSE(tuples.Sum(*tuples.Code("5/7"), -6));
    EXPECT_FALSE(tuples.Sum(*tuples.Code("5/7"), std::numeric_limits<int64_t>::min()));
    EXPECT_EQ(tuples.ScoreText(tuples.ZeroCode()), "0/0");
  }
}

TEST(ScoreForm, RoundingKeepsTheOrder) {
  Rng rng(7);
  for (const ScoreForm& form :
       {ScoreForm::Int64(), Read("TUPLE 40:DESC 24"), Read("TUPLE 20 20")}) {
    for (int i = 0; i < 2000; ++i) {
      uint64_t a = rng.Next() >> rng.Below(64), b = i % 2 ? a + rng.Below(3) : rng.Next();
      if (!form.IsCode(a) || !form.IsCode(b)) continue;
      if (a > b) std::swap(a, b);
      EXPECT_LE(form.Rounded(a), form.Rounded(b));
      const uint64_t nearest = form.Nearest(form.Rounded(a));
      EXPECT_TRUE(form.IsCode(nearest));
      EXPECT_EQ(form.Rounded(nearest), form.Rounded(a));
    }
    EXPECT_TRUE(form.IsCode(form.Nearest(1e300)));
    EXPECT_TRUE(form.IsCode(form.Nearest(-1e300)));
  }
}

// The members of a set with a form in a range of scores, where each member is its score.
std::string In(const SortedSet& set, TimedScoreBound min, TimedScoreBound max) {
  const TimedScoreRange range = {std::move(min), std::move(max)};
  if (!range.Suits(set, Millis(0))) return "unsuited";
  const RankRange ranks = range.RanksIn(set, Millis(1500));
  std::string members;
  for (size_t rank = ranks.first; rank < ranks.last; ++rank) {
    members += (members.empty() ? "" : " ") + std::string(set.At(rank).member());
  }
  return members;
}

SortedSet SetOf(const std::string& form, const std::vector<std::string>& scores) {
  SortedSet set;
  EXPECT_TRUE(set.SetForm(Read(form)));
  for (const std::string& score : scores) set.Place(score, *set.form().Code(score));
  return set;
}

TEST(ScoreForm, RangesOfIntegersAcceptAnyNumber) {
  const SortedSet set = SetOf("INT64", {"-9223372036854775808", "-2", "1", "2",
                                        "9223372036854775806", "9223372036854775807"});
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(In(set, {-1.5}, {1.5}), "1");
  EXPECT_EQ(In(set, {-2}, {2}), "-2 1 2");
  EXPECT_EQ(In(set, {.score = -2, .exclusive = true}, {.score = 2, .exclusive = true}), "1");
  EXPECT_EQ(In(set, {1e19}, {infinity}), "");
  EXPECT_EQ(In(set, {-infinity}, {-1e19}), "");
  EXPECT_EQ(In(set, {3}, {1e19}), "9223372036854775806 9223372036854775807");
  EXPECT_EQ(In(set, {.score = 9223372036854775806.0, .exact = "9223372036854775806"},
               {.score = 9223372036854775807.0, .exclusive = true, .exact = "9223372036854775807"}),
            "9223372036854775806");
  EXPECT_EQ(
      In(set, {.score = 9223372036854775807.0, .exclusive = true, .exact = "9223372036854775807"},
         {infinity}),
      "");
  EXPECT_EQ(
      In(set, {-infinity},
         {.score = -9223372036854775808.0, .exclusive = true, .exact = "-9223372036854775808"}),
      "");
  EXPECT_EQ(In(set, {.exact = "1/2", .is_tuple = true}, {infinity}), "unsuited");
  EXPECT_EQ(In(set, {.score = 9223372036854775807.0, .exact = "0x7ffffffffffffffe"}, {infinity}),
            "unsuited");
  // At 1.5 seconds.
  EXPECT_EQ(In(set, {0}, {.clock = TimedScoreBound::Clock::kSeconds}), "1");
  EXPECT_EQ(In(set, {0}, {.clock = TimedScoreBound::Clock::kMillis}), "1 2");
}

// A bound as a request states it.
TimedScoreBound Stated(const std::string& text, bool exclusive = false) {
  return {.score = std::stod(text), .exclusive = exclusive, .exact = text};
}

TEST(ScoreForm, FractionsOfLargeBoundsAreExact) {
  const SortedSet set =
      SetOf("INT64", {"-9007199254740994", "-9007199254740993", "5", "9007199254740992",
                      "9007199254740993", "9007199254740994"});
  const double infinity = std::numeric_limits<double>::infinity();
  for (const bool exclusive : {false, true}) {
    EXPECT_EQ(In(set, Stated("9007199254740992.9", exclusive), {infinity}),
              "9007199254740993 9007199254740994");
    EXPECT_EQ(In(set, {0}, Stated("9007199254740993.5", exclusive)),
              "5 9007199254740992 9007199254740993");
    EXPECT_EQ(In(set, {-infinity}, Stated("-9007199254740993.5", exclusive)), "-9007199254740994");
    EXPECT_EQ(In(set, Stated("-9007199254740993.5", exclusive), {4}), "-9007199254740993");
    EXPECT_EQ(In(set, Stated("5.00000000000000000001", exclusive), {100}), "");
    EXPECT_EQ(In(set, {0}, Stated("4.99999999999999999999", exclusive)), "");
  }
  EXPECT_EQ(In(set, Stated("9.007199254740993e15"), {infinity}),
            "9007199254740993 9007199254740994");
  EXPECT_EQ(In(set, Stated("9007199254740993.000", true), {infinity}), "9007199254740994");
}

// Floor and ceiling of random bounds, with integers around them.
TEST(ScoreForm, BoundsWithFractionsSelectTheIntegersAboveAndBelow) {
  Rng rng(9);
  for (int i = 0; i < 2000; ++i) {
    const int64_t below = static_cast<int64_t>(rng.Next()) >> (1 + rng.Below(62));
    SortedSet set;
    ASSERT_TRUE(set.SetForm(ScoreForm::Int64()));
    for (const int64_t score : {below - 1, below, below + 1, below + 2}) {
      set.Place(std::to_string(score), *set.form().Code(std::to_string(score)));
    }
    const bool is_negative = below < 0;  // so that its digits are those of the integer above
    const std::string text = std::to_string(is_negative ? below + 1 : below);
    const std::string sign = is_negative && below == -1 ? "-" : "";
    const std::string bound = sign + text + "." + std::string(rng.Below(30), '0') + "1";
    const double infinity = std::numeric_limits<double>::infinity();
    const bool exclusive = rng.Below(2) == 1;
    EXPECT_EQ(In(set, Stated(bound, exclusive), {infinity}),
              std::to_string(below + 1) + " " + std::to_string(below + 2))
        << bound;
    EXPECT_EQ(In(set, {-infinity}, Stated(bound, exclusive)),
              std::to_string(below - 1) + " " + std::to_string(below))
        << bound;
  }
}

TEST(ScoreForm, BoundsAboveAllTuplesAreUnsuited) {
  const SortedSet set = SetOf("TUPLE 64", {"1", "18446744073709551615"});
  EXPECT_EQ(In(set, {0}, Stated("18446744073709551615")), "1 18446744073709551615");
  EXPECT_EQ(In(set, {0}, Stated(std::string(1000, '0') + "18446744073709551615")),
            "1 18446744073709551615");
  EXPECT_EQ(In(set, {0}, Stated(std::string(2000, '0') + "1")), "unsuited");  // too long
  EXPECT_EQ(In(set, Stated("1e0"), Stated("1.8446744073709551615e19")), "1 18446744073709551615");
  for (const std::string& text :
       {std::string("18446744073709551616"), "1" + std::string(30, '0'),
        std::string(2000, '0') + "1" + std::string(30, '0'), std::string("9007199254740992.5")}) {
    EXPECT_EQ(In(set, {0}, Stated(text)), "unsuited") << text;
    EXPECT_EQ(In(set, Stated(text), {1e300}), "unsuited") << text;
  }
  EXPECT_EQ(In(set, {0}, {1e300}), "unsuited");
  EXPECT_EQ(In(set, {1e20}, {1e300}), "unsuited");
}

TEST(ScoreForm, RangesOfTuplesAcceptTheFirstFields) {
  const SortedSet set = SetOf("TUPLE 8 8:DESC", {"1/5", "1/4", "2/200", "2/0", "3/1", "255/0"});
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(In(set, {2}, {2}), "2/200 2/0");
  EXPECT_EQ(In(set, {.score = 2, .exclusive = true}, {infinity}), "3/1 255/0");
  EXPECT_EQ(In(set, {-infinity}, {.score = 2, .exclusive = true}), "1/5 1/4");
  EXPECT_EQ(In(set, {.exact = "1/4", .is_tuple = true}, {.exact = "2/200", .is_tuple = true}),
            "1/4 2/200");
  EXPECT_EQ(In(set, {.exclusive = true, .exact = "1/4", .is_tuple = true}, {2}), "2/200 2/0");
  EXPECT_EQ(In(set, {255}, {infinity}), "255/0");
  EXPECT_EQ(In(set, {.score = 255, .exclusive = true}, {infinity}), "");
  for (const double other : {-1.0, 1.5, 256.0}) EXPECT_EQ(In(set, {other}, {infinity}), "unsuited");
  EXPECT_EQ(In(set, {-infinity}, {.clock = TimedScoreBound::Clock::kSeconds}), "unsuited");
  const SortedSet doubles;
  EXPECT_EQ(In(doubles, {.exact = "1/4", .is_tuple = true}, {infinity}), "unsuited");
}

// A set of codes next to a model.
class FormRun {
 public:
  FormRun(uint64_t seed, const ScoreForm& form, uint64_t members) : rng_(seed), members_(members) {
    EXPECT_TRUE(set_.SetForm(form));
  }

  void Run(int steps) {
    for (int step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
      Step();
      if (step % 256 == 0) ExpectAll(set_);
    }
    ExpectAll(set_);
    ExpectAll(set_.Clone());
    ExpectAll(set_.Copy({0, set_.size()}));
    set_.Check();
    SortedSet moved = std::move(set_);
    EXPECT_TRUE(moved.has_form());
    EXPECT_FALSE(set_.has_form());
    ExpectAll(moved);
  }

 private:
  // Codes at the ends, which as doubles are NaN, and -0.0, are frequent.
  uint64_t Code() {
    uint64_t code = 0;
    switch (rng_.Below(5)) {
      case 0:
        code = rng_.Below(3);
        break;
      case 1:
        code = ~rng_.Below(3);
        break;
      case 2:
        code = (uint64_t{1} << 63) - 2 + rng_.Below(4);
        break;
      case 3:
        code = rng_.Below(1000) << rng_.Below(60);
        break;
      default:
        code = rng_.Next();
    }
    return set_.form().IsCode(code) ? code : rng_.Below(100);
  }

  void Step() {
    const std::string member = "m" + std::to_string(rng_.Below(members_));
    const auto old = codes_.find(member);
    if (rng_.Below(4) == 0) {
      EXPECT_EQ(set_.Remove(member), old != codes_.end());
      if (old == codes_.end()) return;
      ordered_.erase({old->second, member});
      codes_.erase(old);
      return;
    }
    const uint64_t code = Code();
    using Kind = AddResult::Kind;
    const Kind kind = old == codes_.end()   ? Kind::kAdded
                      : old->second == code ? Kind::kUnchanged
                                            : Kind::kUpdated;
    const AddResult result = set_.Place(member, code);
    ASSERT_EQ(result.kind, kind);
    ASSERT_EQ(ScoreCode(result.score), code);
    if (old != codes_.end()) ordered_.erase({old->second, member});
    codes_[member] = code;
    ordered_.insert({code, member});
    ASSERT_EQ(ScoreCode(*set_.Score(member)), code);
    if (codes_.size() < 500) {
      const auto rank = std::distance(ordered_.begin(), ordered_.find({code, member}));
      ASSERT_EQ(set_.Rank(member), static_cast<size_t>(rank));
    }
  }

  void ExpectAll(const SortedSet& set) {
    ASSERT_EQ(set.size(), ordered_.size());
    auto at = set.At(0);
    for (const auto& [code, member] : ordered_) {
      ASSERT_TRUE(at.valid());
      ASSERT_EQ(at.member(), member);
      ASSERT_EQ(ScoreCode(at.score()), code);
      at.Next();
    }
    for (int i = 0; i < 20; ++i) {
      uint64_t first = Code(), last = Code();
      if (first > last) std::swap(first, last);
      const auto begin = ordered_.lower_bound({first, ""});
      const auto end =
          last == CodeRange::kMost ? ordered_.end() : ordered_.lower_bound({last + 1, ""});
      const RankRange ranks = set.Ranks(CodeRange{first, last});
      ASSERT_EQ(ranks.size(), static_cast<size_t>(std::distance(begin, end)));
    }
  }

  Rng rng_;
  const uint64_t members_;
  SortedSet set_;
  std::map<std::string, uint64_t> codes_;
  std::set<std::pair<uint64_t, std::string>> ordered_;
};

TEST(ScoreForm, SetsOfCodesActLikeTheModel) {
  for (const uint64_t members : {5u, 60u, 700u}) {
    for (const std::string form : {"INT64", "TUPLE 64", "TUPLE 10 10:DESC"}) {
      FormRun(members, Read(form), members).Run(2000);
    }
  }
}

TEST(ScoreForm, DeadlinesAndPayloadsMoveWithTheirMember) {
  SortedSet set = SetOf("INT64", {"1", "2"});
  set.SetDeadline("1", Millis(5000));
  set.SetPayload("1", "data");
  set.Place("1", 17, /*keeps_deadline=*/true);
  EXPECT_EQ(set.Deadline("1"), Millis(5000));
  EXPECT_EQ(set.Payload("1"), "data");
  set.Place("1", 17);
  EXPECT_EQ(set.Deadline("1"), std::nullopt);
  EXPECT_EQ(set.Payload("1"), "data");
}

TEST(ScoreForm, ScoresTakeNoMoreBytesThanDoubles) {
  SortedSet doubles, integers;
  ASSERT_TRUE(integers.SetForm(ScoreForm::Int64()));
  Rng rng(3);
  for (int i = 0; i < 2000; ++i) {
    const std::string member = "member:" + std::to_string(i);
    const auto score = static_cast<int64_t>(1'700'000'000 + rng.Below(100'000'000));
    doubles.Set(member, static_cast<double>(score));
    integers.Place(member, *integers.form().Code(std::to_string(score)));
  }
  EXPECT_LE(integers.BytesUsed(), doubles.BytesUsed() * 1.01);  // splits may differ
}

TEST(ScoreForm, SetsCombineByTheirForm) {
  const SortedSet a = SetOf("INT64", {"1", "9007199254740993"});
  SortedSet b = SetOf("INT64", {"1"});
  b.Place("9007199254740993", *b.form().Code("2"));
  const std::vector<WeightedSet> inputs = {{.set = &a}, {.set = &b}};
  const auto scores = [&](SetOperation operation, Aggregate aggregate) {
    const auto result = CombineFormed(operation, inputs, aggregate);
    std::string text;
    for (auto at = result->At(0); at.valid(); at.Next()) {
      text += result->form().ScoreText(ScoreCode(at.score())) + " ";
    }
    return text;
  };
  EXPECT_EQ(scores(SetOperation::kUnion, Aggregate::kSum), "2 9007199254740995 ");
  EXPECT_EQ(scores(SetOperation::kIntersection, Aggregate::kMin), "1 2 ");
  EXPECT_EQ(scores(SetOperation::kIntersection, Aggregate::kCount), "2 2 ");
  EXPECT_EQ(scores(SetOperation::kDifference, Aggregate::kSum), "");
  const SortedSet tuples = SetOf("TUPLE 8 8", {"1/2"});
  const std::vector<WeightedSet> twice = {{.set = &tuples}, {.set = &tuples}};
  EXPECT_FALSE(CombineFormed(SetOperation::kUnion, twice, Aggregate::kSum));
  EXPECT_TRUE(CombineFormed(SetOperation::kUnion, twice, Aggregate::kMax));
}

TEST(ScoreForm, FormsLeaveTheTableWithTheirLastSet) {
  for (int round = 0; round < 3; ++round) {
    std::vector<SortedSet> sets;
    for (int i = 1; i <= 63; ++i) {
      const std::string form = "TUPLE " + std::to_string(i) + ":DESC";
      sets.push_back(SetOf(form, {"1"}));
      sets.push_back(sets.back().Clone());
      EXPECT_EQ(sets.back().form().Text(), form);
    }
  }
  SortedSet last = SetOf("TUPLE 7", {"1"});
  last = SetOf("TUPLE 9", {"1"});
  EXPECT_EQ(last.form().Text(), "TUPLE 9");
}

}  // namespace
}  // namespace zsetd::score_form_test
