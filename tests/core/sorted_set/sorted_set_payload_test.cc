// Payloads of members: kept by every change of the set until the member is removed.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/sorted_set/block/block_reader.h"
#include "core/sorted_set/block/sorted_set_snapshot.h"
#include "core/sorted_set/element_sampler.h"
#include "core/sorted_set/sorted_set.h"
#include "core/sorted_set/sorted_set_builder.h"
#include "core/util/rng.h"
#include "tests/core/check_after_change.h"
#include "tests/core/sorted_set/sorted_set_model.h"
#include "tests/core/sorted_set/sorted_set_world.h"
#include "tests/support/steps.h"

namespace zsetd::sorted_set_payload_test {
namespace {

using Payloads = std::map<std::string, std::string>;

std::optional<std::string_view> Find(const Payloads& payloads, const std::string& member) {
  const auto found = payloads.find(member);
  return found == payloads.end() ? std::nullopt : std::optional<std::string_view>(found->second);
}

std::string PayloadOf(Rng& rng) {
  switch (rng.Below(12)) {
    case 0:
      return "";
    case 1:
      return std::string(250 + rng.Below(10), char(rng.Below(256)));
    case 2:
      return std::string(rng.Below(3000), char(rng.Below(256)));
    default:
      return std::string(1 + rng.Below(40), char(rng.Below(256)));
  }
}

// A set, a model, and the payloads and deadlines that members have in it.
class PayloadRun {
 public:
  PayloadRun(uint64_t seed, bool is_large) : world_(seed), is_large_(is_large) {}

  void Run(int steps) {
    for (int step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
      Step();
      const std::string member = Member();
      ASSERT_EQ(set_.Score(member), model_.Score(member));
      ASSERT_EQ(set_.Rank(member), model_.Rank(member));
      ASSERT_EQ(set_.Payload(member), Find(payloads_, member));
      ASSERT_EQ(set_.Deadline(member).has_value(), deadlines_.contains(member));
      CheckAfterChange(set_, step);
      if (step % 64 == 0) ExpectAll(set_);
    }
    ExpectAll(set_);
    ExpectAll(set_.Clone());
    ExpectAll(Rebuilt());
    set_.Check();
  }

 private:
  std::string Member() {
    return is_large_ ? "m" + std::to_string(world_.rng().Below(3000)) : world_.Member();
  }

  void Step() {
    Rng& rng = world_.rng();
    const std::string member = Member();
    switch (rng.Below(12)) {
      case 0:
        EXPECT_EQ(set_.Remove(member), model_.Remove(member));
        Forget(member);
        break;
      case 1:
        if (rng.Below(10) == 0) RemoveRange();
        break;
      case 2:
        SetPayload(member, std::nullopt);
        break;
      case 3:
      case 4:
      case 5:
        SetPayload(member, PayloadOf(rng));
        break;
      case 6:
        if (model_.Score(member)) {
          const Millis deadline(1'790'000'000'000 + int64_t(rng.Below(uint64_t{1} << 40)));
          set_.SetDeadline(member, deadline);
          deadlines_[member] = deadline;
        }
        break;
      case 7:
        set_.SetDeadline(member, std::nullopt);
        deadlines_.erase(member);
        break;
      default:
        Add(member);
    }
  }

  void Add(const std::string& member) {
    const double score = world_.Score();
    AddRule rule = world_.Rule();
    rule.keep_deadline = world_.rng().Below(2) == 0;
    const AddResult result = set_.Add(member, score, rule);
    ASSERT_EQ(result.kind, model_.Add(member, score, rule).kind);
    const bool keeps = rule.increment || rule.keep_deadline;
    if (result.kind <= AddResult::Kind::kUnchanged && !keeps) deadlines_.erase(member);
  }

  void SetPayload(const std::string& member, const std::optional<std::string>& payload) {
    const uint32_t revision = set_.revision();
    const bool changes = model_.Score(member) && Find(payloads_, member) != payload;
    EXPECT_EQ(set_.SetPayload(member, payload), changes);
    EXPECT_EQ(set_.revision() != revision, changes);
    if (!changes) return;
    payloads_.erase(member);
    if (payload) payloads_[member] = *payload;
  }

  void RemoveRange() {
    const RankRange ranks = world_.Ranks(model_.size());
    const std::vector<SortedSetModel::Pair> before = model_.Elements();
    EXPECT_EQ(set_.Remove(ranks), model_.Remove(ranks));
    for (const auto& [score, member] : before) {
      if (!model_.Score(member)) Forget(member);
    }
  }

  void Forget(const std::string& member) {
    payloads_.erase(member);
    deadlines_.erase(member);
  }

  void ExpectAll(const SortedSet& set) {
    ASSERT_EQ(set.HasPayloads(), !payloads_.empty());
    size_t rank = 0;
    const std::vector<SortedSetModel::Pair> expected = model_.Elements();
    ASSERT_EQ(set.size(), expected.size());
    for (auto at = set.At(0); at.valid(); at.Next(), ++rank) {
      const std::string member(at.member());
      ASSERT_EQ(std::pair(at.score(), member), expected[rank]);
      ASSERT_EQ(at.payload(), Find(payloads_, member)) << member;
      const auto deadline = deadlines_.find(member);
      ASSERT_EQ(at.deadline(),
                deadline == deadlines_.end() ? std::nullopt : std::optional(deadline->second));
    }
  }

  SortedSet Rebuilt() {
    SortedSetBuilder builder;
    for (const auto& [score, member] : model_.Elements()) {
      const auto deadline = deadlines_.find(member);
      builder.Add(member, score,
                  deadline == deadlines_.end() ? std::nullopt : std::optional(deadline->second));
      if (const auto payload = Find(payloads_, member)) builder.SetPayload(member, *payload);
    }
    return *builder.Build();
  }

  World world_;
  bool is_large_;
  SortedSet set_;
  SortedSetModel model_;
  Payloads payloads_;
  std::map<std::string, Millis> deadlines_;
};

TEST(SortedSetPayloads, AreThoseOfTheModel) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    PayloadRun(seed, seed % 2 == 0).Run(Steps(4000));
  }
}

// Returns the bytes in use in its blocks.
size_t UsedBytes(const SortedSet& set) {
  size_t bytes = 0;
  set.ForEachBlock([&](const Block& block) { bytes += block.used_bytes(); });
  return bytes;
}

TEST(SortedSetPayloads, TakeMemoryOnlyWhileTheyExist) {
  for (const int size : {1, 30, 60}) {
    SortedSet set;
    for (int i = 0; i < size; ++i) set.Set("member" + std::to_string(i * 7919 % size), i);
    const size_t before = UsedBytes(set);
    for (int i = 0; i < size; ++i) set.SetPayload("member" + std::to_string(i), "0123456789");
    EXPECT_EQ(UsedBytes(set), before + 2 + 11 * size);
    for (int i = 0; i < size; ++i) set.SetPayload("member" + std::to_string(i), std::nullopt);
    EXPECT_FALSE(set.HasPayloads());
    EXPECT_EQ(UsedBytes(set), before);
  }
}

// Returns the bytes of a payload of this length beyond its length, in a set of many members of 20
// bytes that get it when they are added: in order of scores, or at random.
double BytesBeyondLength(size_t length, bool in_order) {
  constexpr int kMembers = 4'000;
  Rng rng(1);
  SortedSet without, with;
  for (int i = 0; i < kMembers; ++i) {
    std::string member;
    while (member.size() < 20) member += static_cast<char>('a' + rng.Next() % 26);
    const double score = in_order ? i : static_cast<double>(rng.Next() >> 12);
    without.Set(member, score);
    with.Set(member, score);
    with.SetPayload(member, std::string(length, 'x'));
  }
  const auto more = static_cast<double>(with.BytesUsed() - without.BytesUsed());
  return more / kMembers - static_cast<double>(length);
}

TEST(SortedSetPayloads, TakeLittleBesidesTheirLength) {
  for (const size_t length : {10, 30, 60, 100, 150, 200}) {
    EXPECT_LE(BytesBeyondLength(length, true), 4) << length;
    EXPECT_LE(BytesBeyondLength(length, false), 4 + 0.12 * static_cast<double>(length)) << length;
  }
}

TEST(SortedSetPayloads, LargeBlocksShrinkWithoutThem) {
  SortedSet set, plain;
  for (int i = 0; i < 5000; ++i) {
    const std::string member = std::to_string(i * 7919 % 5000) + std::string(80, 'm');
    set.Set(member, i);
    plain.Set(member, i);
    set.SetPayload(member, std::string(100, 'x'));
  }
  for (int i = 0; i < 5000; ++i) {
    set.SetPayload(std::to_string(i) + std::string(80, 'm'), std::nullopt);
  }
  set.Check();
  EXPECT_LT(set.BytesUsed(), plain.BytesUsed() * 3 / 2);  // a third of a block may be free
  for (int i = 5000; i < 10'000; ++i) set.Set(std::to_string(i) + std::string(80, 'm'), i % 5000);
  set.Check();
}

TEST(SortedSetPayloads, LongOnesAreCountedAndFreed) {
  SortedSet set;
  for (int i = 0; i < 1000; ++i) set.Set("m" + std::to_string(i), i);
  const size_t before = set.BytesUsed();
  for (int i = 0; i < 1000; ++i) set.SetPayload("m" + std::to_string(i), std::string(5000, 'x'));
  EXPECT_GT(set.BytesUsed(), before + 5'000'000);
  for (int i = 0; i < 500; ++i) set.SetPayload("m" + std::to_string(i), std::nullopt);
  EXPECT_LT(set.BytesUsed(), before + 3'000'000);
  set.Remove(RankRange{500, 1000});
  EXPECT_LT(set.BytesUsed(), before + 20'000);
}

TEST(SortedSetPayloads, ASnapshotHasThoseOfItsInstant) {
  SortedSet set;
  Payloads payloads;
  Rng rng(5);
  for (int i = 0; i < 2000; ++i) {
    const std::string member = "m" + std::to_string(i);
    set.Set(member, i);
    if (i % 3 > 0) payloads[member] = PayloadOf(rng);
    if (i % 3 > 0) set.SetPayload(member, payloads[member]);
  }
  const auto snapshot = set.StartSnapshot();
  size_t seen = 0;
  for (int round = 0; !snapshot->done(); ++round) {
    for (int i = 0; i < 20; ++i) {
      const std::string member = "m" + std::to_string(rng.Below(2000));
      i % 4 == 0 ? void(set.Remove(member)) : void(set.SetPayload(member, PayloadOf(rng)));
    }
    const OwnedBlock block = snapshot->Take();
    BlockReader reader(*block, 0);
    for (size_t left = block->count(); left > 0; --left, ++seen) {
      const std::string member(reader.member());
      ASSERT_EQ(block->PayloadAt(reader.index()).view(), Find(payloads, member)) << member;
      if (left > 1) reader.Forward();
    }
  }
  EXPECT_EQ(seen, 2000u);
}

TEST(SortedSetPayloads, AreDrawnWithTheirMembers) {
  SortedSet set;
  for (int i = 0; i < 500; ++i) {
    set.Set(std::to_string(i), i);
    if (i % 2 == 0) set.SetPayload(std::to_string(i), "of " + std::to_string(i));
  }
  ElementSampler sampler(set);
  Rng rng(1);
  for (int i = 0; i < 2000; ++i) {
    const Element drawn = sampler.Draw(rng);
    const std::string expected = "of " + std::string(drawn.member);
    const bool has_payload = int(drawn.score) % 2 == 0;
    ASSERT_EQ(sampler.drawn_payload(),
              has_payload ? std::optional<std::string_view>(expected) : std::nullopt);
  }
}

}  // namespace
}  // namespace zsetd::sorted_set_payload_test
