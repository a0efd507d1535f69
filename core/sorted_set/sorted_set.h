#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "core/sorted_set/block/block_reader.h"
#include "core/sorted_set/block/score_encoding.h"
#include "core/sorted_set/skip_list/prefetch_step.h"
#include "core/util/range.h"
#include "core/util/tagged_owner.h"

namespace zsetd {

class BlockSkipList;
class SortedSetBuilder;

// One element as it stands in a set. The bytes of a member that a cursor gave are valid until the
// cursor moves or dies, or the set changes.
struct Element {
  std::string_view member;
  double score = 0;
};

// What came of an addition to a sorted set.
struct AddResult {
  enum class Kind {
    kAdded,
    kUpdated,
    kUnchanged,   // it was there with this very score
    kRefused,     // the rule forbade it
    kNotANumber,  // infinity met its opposite; nothing was changed
  };
  Kind kind = Kind::kUnchanged;
  double score = 0;  // the element's score afterwards; for kRefused and kNotANumber meaningless
};

// What ZADD's options ask of one addition.
struct AddRule {
  bool only_new = false;       // NX: leave what is there
  bool only_existing = false;  // XX: add nothing
  bool only_greater = false;   // GT: an existing score may only rise
  bool only_less = false;      // LT: an existing score may only fall
  bool increment = false;      // INCR: the score given is added to the one there
};

// The way in which Redis would keep a sorted set, told from its past: from listpack to skiplist,
// never back. Tools ask for it; zsetd goes by other bounds.
enum class SortedSetEncoding : uint8_t { kListpack, kSkiplist };

// How long Redis would stay with a listpack: up to so many members, and bytes of any member.
struct SortedSetLimits {
  size_t listpack_entries = 128;
  size_t listpack_value = 64;
};

// Unique members, each with a score, ordered by score and among equal scores by the members' bytes.
//
//   small    one packed block                                      core/sorted_set/block/block.h
//   large    a skip list of packed blocks, and a member index
//   core/sorted_set/skip_list/block_skip_list.h
//
// A set starts as a single block; only when that overflows do levels and index come to it.
//
// Invariants: no score is NaN; -0.0 is stored as 0.0; the revision changes with every change of
// contents. Movable, not copyable (Clone says what it costs); a set that was moved from is empty.
// Costs are for n elements; no single change takes longer because the set is large.
class SortedSet {
 public:
  class Cursor;

  SortedSet();
  SortedSet(SortedSet&&) noexcept;
  SortedSet& operator=(SortedSet&&) noexcept;
  ~SortedSet();

  SortedSet Clone() const;  // O(n): its allocations are copied as they are

  // A set of the elements of the range, which lies in this one. O(log n + copied).
  SortedSet Copy(RankRange ranks) const;

  size_t size() const;  // O(1)
  bool empty() const { return size() == 0; }

  // Differs from an earlier value if the contents changed in between. O(1).
  uint32_t revision() const { return revision_; }

  // The longest member that was ever added, in bytes, remembered up to 65,535: a bound that
  // removals do not lower and that a clone keeps. O(1).
  size_t longest_member() const { return longest_member_; }

  SortedSetEncoding encoding() const { return encoding_; }

  // Tells the encoding that the set has, or is about to have, so many members, and one of so many
  // bytes among them. O(1).
  void Expect(size_t members, size_t member_bytes, const SortedSetLimits& limits);

  // The heap bytes of the set, allocator rounding included; the object itself not. O(1).
  size_t BytesUsed() const;

  // Adds the member or moves it to `score`, which is not NaN. O(log n).
  AddResult Set(std::string_view member, double score) { return Add(member, score, AddRule()); }
  AddResult Add(std::string_view member, double score, const AddRule& rule);

  // False if it was not there. O(log n).
  bool Remove(std::string_view member);

  // Removes the elements of the range, clipped to the set, and returns how many they were.
  // O(log n + removed).
  size_t Remove(RankRange ranks);

  // The same, but what would take long to free is handed out instead: it is freed, on whatever
  // thread, with the last pointer to it. Null if there is nothing of the kind.
  std::shared_ptr<void> Cut(RankRange ranks);

  std::optional<double> Score(std::string_view member) const;  // O(1)
  std::optional<size_t> Rank(std::string_view member) const;   // O(log n)

  // Brings into the cache, step by step, what finding the member will read from memory; to be
  // called for each of several members before the next step, so that their loads are under way at
  // the same time. `hash` is the member's KeyedHash.
  void Prefetch(uint64_t hash, PrefetchStep step) const;

  // The same of what every operation reads first.
  void PrefetchStart() const;

  // The elements that lie in the range, clipped to the set. O(log n).
  RankRange Ranks(const ScoreRange& range) const;
  RankRange Ranks(const LexRange& range) const;

  // Visits some elements, in no order, and returns where to go on; 0 at the end. A scan from 0 to 0
  // visits every element that was there throughout, whatever comes, goes or moves between the
  // calls; some may come twice, and one that moves has the score it has when it is visited. All of
  // a small set come at once. O(1) expected.
  uint64_t Scan(uint64_t cursor, const std::function<void(const Element&)>& visit) const;

  // A cursor at the element of that rank, or past the end. O(log n).
  Cursor At(size_t rank) const;

  // Asserts the invariants of what it consists of; for tests. O(n log n).
  void Check() const;

  // Calls visit(const Block&) for the packed blocks that it consists of, in order.
  template <class Visit>
  void ForEachBlock(Visit visit) const;

 private:
  friend class Cursor;
  friend class SortedSetBuilder;
  struct FreeBlock {
    void operator()(Block* block) const;
  };

  BlockPlace Find(std::string_view member) const;  // nowhere if it is not there
  size_t RankOf(const BlockPlace& place, std::string_view member) const;
  size_t CountBefore(uint64_t code, std::string_view member) const;
  size_t CountBefore(std::string_view member) const;  // by the members alone; not empty
  template <class Insert>
  AddResult AddOrMove(const BlockPlace& place, std::string_view member, double score,
                      const AddRule& rule, Insert insert);
  void Move(const BlockPlace& place, std::string_view member, uint64_t code);
  void InsertIntoOnly(const BlockItem& item);
  void EraseFromOnly(size_t first, size_t last);
  std::shared_ptr<void> CutInside(RankRange ranks);
  void Adopt(Block* only, size_t longest_member);
  void Adopt(std::unique_ptr<BlockSkipList> list, size_t longest_member);
  uint8_t TagFor(std::string_view member) const;
  void NoteLength(size_t member_bytes);
  const Block* BlockAfter(const Block& block) const;  // or null
  void BecomeLarge();
  void BecomeSmallAgain();

  Block* only() const { return contents_.first(); }
  BlockSkipList* list() const { return contents_.second(); }

  // Small, for there are many sets, most of them with few elements. Of an empty one it is nothing.
  TaggedOwner<Block, BlockSkipList, FreeBlock, std::default_delete<BlockSkipList>> contents_;
  uint32_t revision_ = 0;
  uint16_t longest_member_ = 0;
  SortedSetEncoding encoding_ = SortedSetEncoding::kListpack;
};

// A place in a set, to walk from in either direction: O(1) a step. Any change of the set ends it.
//
//   for (auto at = set.At(0); at.valid(); at.Next()) Use(at.element());
class SortedSet::Cursor {
 public:
  bool valid() const { return valid_; }                    // false past either end, for good
  Element element() const { return {member(), score()}; }  // this and what follows: while valid
  double score() const { return ScoreOf(reader_.code()); }

  // The member in one of two ways, as BlockReader has them: where it stands, or where it is wanted.
  static constexpr size_t kTooMany = BlockReader::kTooMany;
  bool is_in_place() const { return reader_.is_in_place(); }
  std::string_view member() const { return reader_.member(); }
  size_t member_size() const { return reader_.member_size(); }
  void WriteMember(char* to) const { reader_.WriteMember(to); }

  void Next() { reader_.index() + 1 < reader_.block()->count() ? reader_.Forward() : NextBlock(); }
  void Previous() { reader_.index() > 0 ? reader_.Backward() : PreviousBlock(); }

 private:
  friend class SortedSet;
  Cursor() = default;
  Cursor(const BlockSkipList* list, const BlockPlace& place);

  void NextBlock();
  void PreviousBlock();

  const BlockSkipList* list_ = nullptr;  // none of a small set
  BlockReader reader_;
  bool valid_ = false;
};

inline std::optional<double> SortedSet::Score(std::string_view member) const {
  const BlockPlace place = Find(member);
  return place ? std::optional(ScoreOf(place.code())) : std::nullopt;
}

inline std::optional<size_t> SortedSet::Rank(std::string_view member) const {
  const BlockPlace place = Find(member);
  return place ? std::optional(RankOf(place, member)) : std::nullopt;
}

template <class Visit>
void SortedSet::ForEachBlock(Visit visit) const {
  const Block* block = empty() ? nullptr : At(0).reader_.block();
  for (; block != nullptr; block = BlockAfter(*block)) visit(*block);
}

}  // namespace zsetd
