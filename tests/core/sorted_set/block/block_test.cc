#include "core/sorted_set/block/block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/sorted_set/block/block_builder.h"
#include "core/sorted_set/block/block_packing.h"
#include "core/sorted_set/block/unpacked_block.h"
#include "core/util/numeral.h"
#include "core/util/rng.h"
#include "tests/support/steps.h"

namespace zsetd::block_test {
namespace {

using Model = std::vector<std::pair<uint64_t, std::string>>;  // sorted

uint8_t TagOf(const std::string& member) { return std::hash<std::string>()(member) % 5; }

BlockItem ItemOf(const std::pair<uint64_t, std::string>& element) {
  const auto& [code, member] = element;
  LargeMember* large = member.size() > kMaxInlineMember ? LargeMember::Make(member) : nullptr;
  return {code, member, large, TagOf(member)};
}

// A block with its LargeMembers. Like an owner, it repacks the block when an insertion requires it.
class OwnedBlock {
 public:
  OwnedBlock(const std::pair<uint64_t, std::string>& first, bool tagged) {
    const BlockItem item = ItemOf(first);
    block_ = BlockBuilder::Pack({&item, 1}, PlanBlock({&item, 1}, tagged));
  }
  OwnedBlock(OwnedBlock&& other) : block_(std::exchange(other.block_, nullptr)) {}
  ~OwnedBlock() {
    if (block_ == nullptr) return;
    for (size_t i = 0; i < block_->count(); ++i) FreeLarge(i);
    Block::Free(block_);
  }

  Block* operator->() { return block_; }
  const Block* get() const { return block_; }

  void Insert(size_t i, const BlockItem& item) {
    for (;;) {
      switch (block_->Insert(i, item)) {
        case Block::Insertion::kDone:
          return;
        case Block::Insertion::kNoRoom:
          MakeRoom();
          break;
        case Block::Insertion::kOtherFormat:
          return Repack(i, &item);
      }
    }
  }
  void SetDeadline(size_t i, uint64_t deadline) { block_ = SetDeadlineOrGrow(block_, i, deadline); }
  void MakeRoom() { block_ = BlockBuilder::Moved(block_, 300); }
  void Erase(size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) FreeLarge(i);
    block_->Erase(first, last);
  }
  void Repack(size_t i = 0, const BlockItem* added = nullptr) {
    UnpackedBlock unpacked(*block_);
    if (added) unpacked.Insert(i, *added);
    const BlockPlan plan =
        PlanBlock(unpacked.items(), block_->tagged(), added ? std::optional(i) : std::nullopt);
    Block* packed = BlockBuilder::Pack(unpacked.items(), plan);
    Block::Free(std::exchange(block_, packed));
  }
  bool Fits() const { return block_->used_bytes() < 32000; }

 private:
  void FreeLarge(size_t i) {
    if (LargeMember* large = block_->LargeAt(i)) LargeMember::Free(large);
  }
  Block* block_;
};

// Members and scores of one style each, so that compact formats occur often.
class Style {
 public:
  explicit Style(Rng& rng) : rng_(rng), kind_(rng.Below(16)), prefix_(rng.Below(20), 'p') {}

  std::string Member() {
    if (rng_.Below(60) == 0) return Odd();
    const uint64_t n = rng_.Below(300);
    switch (kind_) {
      case 0:
        return std::to_string(n);
      case 1:
        return prefix_ + Padded(n, 6);
      case 2:
        return prefix_ + std::to_string(n);
      case 3:
        return Padded(n, 19);
      case 4:
        return std::to_string(9999999999999999000u + n * 7);
      case 5:
        return "1" + Padded(n, 19);
      case 6:
        return prefix_ + std::string(n % 7, char(n)) + std::string(1, char(n * 3));
      case 7:
        return prefix_ + char(n) + char(n / 2) + "tail";
      case 8:
        return std::string(200, 'q') + std::to_string(n);
      case 9:
        return std::string(n % 300, 'z');
      case 12:
        return std::string(8, char('a' + n % 26)) + std::string(4, char('a' + n / 26));
      case 13:
        return std::to_string(n % 40 == 0 ? 9000000000000000000 + n : n);
      case 14:
        return std::to_string(100'000'000 + n * 2'999'999);
      case 15:
        return prefix_ + std::to_string((n << 31) + 1'000'000'000'000);
      case 10:
        return std::to_string(n * 0x9E3779B97F4A7C15);
      default:
        return std::string(n, '\0');
    }
  }

  uint64_t Code() {
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();
    static constexpr double kOdd[] = {0, kInfinity, -kInfinity, 5e-324, -5e-324, 1e308, 0.1};
    if (rng_.Below(80) == 0) return ScoreCode(kOdd[rng_.Below(std::size(kOdd))]);
    if (kind_ == 14) return ScoreCode(1.79e9 + double(rng_.Below(86'400)));
    if (kind_ == 15) return ScoreCode(double(rng_.Below(1 << 25)));
    if (kind_ % 3 == 0) return ScoreCode(5);
    if (kind_ % 3 == 1) return ScoreCode(1.79e9 + double(rng_.Below(200)));
    return ScoreCode(double(rng_.Next()) - 9e18);
  }

 private:
  static std::string Padded(uint64_t n, uint8_t digits) {
    char out[kMaxNumeralDigits + 1];
    return std::string(out, WriteNumeral(out, n, digits));
  }
  std::string Odd() {
    static const std::string kOdd[] = {"",
                                       "0",
                                       "00",
                                       "-1",
                                       "\xFF\xFE",
                                       std::string(10000, 'x'),
                                       std::string(254, 'a'),
                                       std::string(255, 'a'),
                                       std::string("\0\0", 2),
                                       "99999999999999999999"};
    return kOdd[rng_.Below(std::size(kOdd))];
  }

  Rng& rng_;
  uint64_t kind_;
  std::string prefix_;
};

using Deadlines = std::map<std::string, uint64_t>;  // of members that have one

uint64_t DeadlineOf(const Deadlines& deadlines, const std::string& member) {
  const auto found = deadlines.find(member);
  return found == deadlines.end() ? kNoDeadline : found->second;
}

// Deadlines up to 2^spread milliseconds away, among them the first and the last.
uint64_t SomeDeadline(Rng& rng, uint64_t spread) {
  constexpr uint64_t kNow = 1'790'000'000'000;
  switch (rng.Below(8)) {
    case 0:
      return kNoDeadline;
    case 1:
      return rng.Below(20) == 0 ? 1 : kNow;
    case 2:
      return rng.Below(20) == 0 ? kMostDeadline : kNow + 1;
    case 3:
      return kNow + (uint64_t{1} << rng.Below(spread + 1));
    default:
      return kNow + rng.Below(uint64_t{1} << spread);
  }
}

void ExpectDeadlines(const Block& block, const Model& model, size_t first,
                     const Deadlines& deadlines) {
  uint64_t earliest = kNoDeadline;
  for (size_t i = 0; i < block.count(); ++i) {
    const uint64_t deadline = DeadlineOf(deadlines, model[first + i].second);
    ASSERT_EQ(block.DeadlineAt(i), deadline) << i;
    earliest = std::min(earliest, deadline);
  }
  ASSERT_EQ(block.EarliestDeadline(), earliest);
  ASSERT_EQ(block.has_deadlines(), earliest != kNoDeadline);
  if (earliest == kNoDeadline) {
    ASSERT_EQ(block.deadline_bytes(), 0u);
  }
}

void ExpectSame(OwnedBlock& block, const Model& model) {
  ASSERT_EQ(block->count(), model.size());
  MemberBuffer buffer;
  for (size_t i = 0; i < model.size(); ++i) {
    ASSERT_EQ(block->CodeAt(i), model[i].first) << i;
    ASSERT_EQ(block->MemberAt(i, buffer), model[i].second) << i;
    if (block->tagged()) {
      ASSERT_EQ(block->TagAt(i), TagOf(model[i].second));
    }
  }
}

void ExpectFinds(OwnedBlock& block, const Model& model, const std::string& member, uint64_t code) {
  const auto is_it = [&](const auto& element) { return element.second == member; };
  const auto at = std::find_if(model.begin(), model.end(), is_it);
  ASSERT_EQ(block->Find(member, TagOf(member)), size_t(at - model.begin()));
  const auto bound = std::lower_bound(model.begin(), model.end(), std::pair(code, member));
  ASSERT_EQ(block->LowerBound(code, member), size_t(bound - model.begin()));
}

// Packs any run of elements as a block of its own, and checks IsTight().
void ExpectPart(OwnedBlock& block, const Model& model, const Deadlines& deadlines, Rng& rng) {
  const size_t first = rng.Below(model.size()), last = first + 1 + rng.Below(model.size() - first);
  const std::unique_ptr<Block, void (*)(Block*)> part(
      BlockBuilder::Part(*block.get(), first, last, rng.Below(2) * 100), Block::Free);
  ASSERT_EQ(part->count(), last - first);
  UnpackedBlock unpacked(*part);
  for (size_t i = first; i < last; ++i) {
    const BlockItem& item = unpacked.items()[i - first];
    ASSERT_EQ(std::pair(item.code, std::string(item.member)), model[i]);
    ASSERT_EQ(item.tag, block->TagAt(i));
  }
  ExpectDeadlines(*part, model, first, deadlines);
  if (BlockBuilder::IsTight(*part)) {
    const BlockPlan plan = PlanBlock(unpacked.items(), part->tagged());
    ASSERT_EQ(part->used_bytes() - part->deadline_bytes(), Block::kHeaderBytes + plan.bytes);
  }
}

void RunBesideModel(uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  Style style(rng);
  Model model = {{style.Code(), style.Member()}};
  OwnedBlock block(model[0], rng.Below(2) == 0);
  const uint64_t with_deadlines = rng.Below(3);  // none, some, many
  const uint64_t spread = rng.Below(46);
  Deadlines deadlines;
  for (int step = 0; step < 500 && !testing::Test::HasFatalFailure(); ++step) {
    const std::pair<uint64_t, std::string> element = {style.Code(), style.Member()};
    const bool exists = std::any_of(model.begin(), model.end(),
                                    [&](const auto& e) { return e.second == element.second; });
    const bool full = model.size() == Block::kMaxCount || !block.Fits();
    const size_t at = rng.Below(model.size());
    if (!exists && !full && rng.Below(3) > 0) {
      const auto place = std::lower_bound(model.begin(), model.end(), element);
      block.Insert(place - model.begin(), ItemOf(element));
      model.insert(place, element);
    } else if (model.size() > 1 && rng.Below(3) == 0) {
      const size_t last = rng.Below(4) > 0 || at == 0 ? at + 1 : model.size();
      block.Erase(at, last);
      for (size_t i = at; i < last; ++i) deadlines.erase(model[i].second);
      model.erase(model.begin() + at, model.begin() + last);
    } else if (rng.Below(10) == 0) {
      block.Repack();
    } else if ((at == 0 || model[at - 1].first < element.first) &&
               (at + 1 == model.size() || element.first < model[at + 1].first)) {
      if (block->SetCode(at, element.first)) model[at].first = element.first;
    }
    for (uint64_t change = 0; change < 2 * with_deadlines && rng.Below(2) == 0; ++change) {
      const size_t of = rng.Below(model.size());
      const uint64_t deadline = SomeDeadline(rng, spread);
      block.SetDeadline(of, deadline);
      deadlines.erase(model[of].second);
      if (deadline != kNoDeadline) deadlines[model[of].second] = deadline;
    }
    ExpectSame(block, model);
    ExpectDeadlines(*block.get(), model, 0, deadlines);
    ExpectPart(block, model, deadlines, rng);
    ExpectFinds(block, model, style.Member(), style.Code());
    ExpectFinds(block, model, model[rng.Below(model.size())].second,
                model[rng.Below(model.size())].first);
  }
}

TEST(Block, BehavesLikeTheModel) {
  for (int seed = 1; seed <= Steps(150) && !testing::Test::HasFatalFailure(); ++seed) {
    RunBesideModel(seed);
  }
}

using Elements = std::vector<std::pair<double, std::string>>;

// Whether the halves of a block of these elements, in order, are both tight.
bool HalvesAreTight(const Elements& elements) {
  std::vector<BlockItem> items;
  for (const auto& [score, member] : elements) items.push_back({ScoreCode(score), member});
  Block* block = BlockBuilder::Pack(items, PlanBlock(items, true));
  const size_t half = items.size() / 2;
  Block* lower = BlockBuilder::Part(*block, 0, half, 0);
  Block* upper = BlockBuilder::Part(*block, half, items.size(), 0);
  const bool tight = BlockBuilder::IsTight(*lower) && BlockBuilder::IsTight(*upper);
  for (Block* made : {block, lower, upper}) Block::Free(made);
  return tight;
}

// A block of a hundred elements.
OwnedBlock Hundred() {
  OwnedBlock block({ScoreCode(0), "a"}, true);
  for (int i = 1; i < 100; ++i) {
    block.Insert(i, ItemOf({ScoreCode(i), "a" + std::to_string(i * 7 % 100)}));
  }
  return block;
}

TEST(Block, DeadlinesTakeTheBitsOfTheirRange) {
  constexpr uint64_t kNow = 1'790'000'000'000, kDay = 86'400'000;
  const struct {
    uint64_t range;
    size_t bits;
  } cases[] = {{1, 1}, {50'000, 16}, {kDay, 27}, {7 * kDay, 30}, {uint64_t{1} << 45, 46}};
  for (const auto& [range, bits] : cases) {
    SCOPED_TRACE(range);
    OwnedBlock block = Hundred();
    const size_t before = block->used_bytes();
    for (uint64_t i = 0; i < 100; ++i) block.SetDeadline(i, kNow + i * (range - 1) / 99);
    EXPECT_EQ(block->used_bytes(), before + 7 + (100 * bits + 7) / 8);
    for (int i = 0; i < 100; ++i) block.SetDeadline(i, kNoDeadline);
    EXPECT_EQ(block->used_bytes(), before);
  }
}

// Returns how often the column of 160 deadlines is repacked.
template <class At>
size_t TimesReframed(At deadline) {
  OwnedBlock block({ScoreCode(0), "x"}, true);
  for (int i = 1; i < int(Block::kMaxCount); ++i) {
    block.Insert(i, ItemOf({ScoreCode(i), std::string(i % 90, 'y') + std::to_string(i)}));
  }
  size_t reframed = 0;
  DeadlineFrame frame;
  for (int i = 0; i < int(Block::kMaxCount); ++i) {
    block.SetDeadline(i, deadline(i));
    const DeadlineFrame now = block->deadline_frame();
    reframed += now.base != frame.base || now.width != frame.width;
    frame = now;
  }
  return reframed;
}

TEST(Block, DeadlinesInAnyOrderReframeItAFewTimes) {
  constexpr uint64_t kNow = 1'790'000'000'000;
  EXPECT_LE(TimesReframed([](int i) { return kNow + i * 1000; }), 9u);
  EXPECT_LE(TimesReframed([](int i) { return kNow - i * 1000; }), 12u);
  EXPECT_LE(TimesReframed([](int i) { return kNow + i * 7'919 % 160 * 1000; }), 8u);
  EXPECT_EQ(TimesReframed([](int) { return kNow; }), 1u);
}

TEST(Block, HalvesAreTightUnlessTheirFormatWouldBeShorter) {
  EXPECT_TRUE(HalvesAreTight({{1, "ab"}, {2, "bb"}, {3, "cd"}, {4, "dd"}}));
  EXPECT_TRUE(HalvesAreTight({{1, "ab"}, {2, "b"}, {3, "cd"}, {4, "e"}}));
  EXPECT_TRUE(HalvesAreTight({{1, "1"}, {2, "200"}, {3, "3"}, {4, "250"}}));
  EXPECT_FALSE(HalvesAreTight({{1, "ab"}, {2, "ac"}, {3, "cd"}, {4, "dd"}})) << "a prefix";
  EXPECT_FALSE(HalvesAreTight({{1, "ab"}, {2, "bb"}, {3, "c"}, {4, "d"}})) << "one length";
  EXPECT_FALSE(HalvesAreTight({{1, "ab"}, {2, "bb"}, {3, "30"}, {4, "41"}})) << "numerals";
  EXPECT_FALSE(HalvesAreTight({{1, "1"}, {2, "9"}, {3, "3"}, {4, "999"}})) << "a short range";
  EXPECT_FALSE(HalvesAreTight({{1, "1"}, {2, "9999999"}, {3, "3"}, {4, "9999998"}})) << "bytes";
  EXPECT_FALSE(HalvesAreTight({{1, "ab"}, {1, "bb"}, {3, "cd"}, {4, "dd"}})) << "equal scores";
}

size_t PlannedBytes(const Elements& elements) {
  std::vector<BlockItem> items;
  for (const auto& [score, member] : elements) items.push_back({ScoreCode(score), member});
  return PlanBlock(items, true).bytes;
}

// Returns how often a block in its own format is repacked while it takes a full block's elements.
// Each of these elements belongs before all others.
template <class Score, class Member>
size_t TimesPacked(Score score, Member member) {
  OwnedBlock block({ScoreCode(score(0)), member(0)}, true);
  Model model = {{ScoreCode(score(0)), member(0)}};
  size_t packed = 0;
  for (int i = 1; i < int(Block::kMaxCount); ++i) {
    model.insert(model.begin(), {ScoreCode(score(i)), member(i)});
    const BlockItem item = ItemOf(model[0]);
    EXPECT_EQ(block->LowerBound(item.code, item.member), 0u);
    block.MakeRoom();
    const auto done = block->Insert(0, item);
    if (done == Block::Insertion::kDone) continue;
    block.Repack(0, &item);
    ++packed;
  }
  ExpectSame(block, model);
  return packed;
}

TEST(Block, DescendingElementsPackItAFewTimes) {
  constexpr size_t kFew = 10;  // whenever the range grows or its steps get smaller
  const auto name = [](int i) { return "name" + std::string(1, char('z' - i % 20)) + "x"; };
  const auto padded = [](int i) { return "member:" + std::to_string(20'000'000 - i); };
  const auto shortest = [](int i) { return std::to_string(500 - i); };
  const auto day = [](int i) { return std::to_string(100'000'000 + i * 7'654'321 % 899'999'999); };
  const auto falling = [](int i) { return 1'790'000'000.0 - i; };
  const auto negative = [](int i) { return -1'790'000'000.0 - 1000 * i; };
  const auto gaps = [](int i) { return 1e6 - 300 * i - i * i % 7; };
  const auto equal = [](int) { return 7.0; };
  EXPECT_LE(TimesPacked(falling, name), kFew);
  EXPECT_LE(TimesPacked(negative, name), kFew);
  EXPECT_LE(TimesPacked(gaps, name), 2 * kFew);
  EXPECT_LE(TimesPacked(equal, padded), kFew);
  EXPECT_LE(TimesPacked(equal, shortest), kFew);
  EXPECT_LE(TimesPacked(falling, padded), kFew);
  EXPECT_LE(TimesPacked(falling, day), 3 * kFew);
}

TEST(Block, PaddedNumeralsWithTimestampsTakeThreeBytes) {
  Elements elements;
  for (int i = 0; i < 128; ++i) {
    elements.emplace_back(1'790'000'000 + i, "member:0000000000" + std::to_string(100 + i));
  }
  EXPECT_EQ(PlannedBytes(elements), 7 + 128 * 3);  // the prefix; tag, score and number
}

TEST(Block, NumbersShareTheBytesOfTheirScores) {
  Elements day, long_numbers;
  for (int i = 0; i < 30; ++i) {
    day.emplace_back(1'790'000'000 + 2'900 * i + i % 7,
                     std::to_string(100'000'000 + 31'000'000 * i));
    long_numbers.emplace_back(1'790'000'000 + 4'000 * i + i % 3,
                              std::to_string(1'000'000'000'000 + (i << 20)));
  }
  EXPECT_EQ(PlannedBytes(day), 30 * (1 + 6));           // 17 bits and 30
  EXPECT_EQ(PlannedBytes(long_numbers), 30 * (1 + 6));  // 17 and 25
}

TEST(Block, EqualScoresTakeNoBytes) {
  EXPECT_EQ(PlannedBytes({{7, "apple"}, {7, "bread"}, {7, "chess"}}), 3 * 6);
}

TEST(Block, SharedPrefixIsStoredOnce) {
  EXPECT_EQ(PlannedBytes({{1, "shop/a"}, {2, "shop/bc"}}), 5 + (1 + 2) + 2 * (1 + 1 + 1));
}

}  // namespace
}  // namespace zsetd::block_test
