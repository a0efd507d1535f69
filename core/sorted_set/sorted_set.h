#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/sorted_set/block/block_reader.h"
#include "core/sorted_set/block/score_encoding.h"
#include "core/sorted_set/form/score_form.h"
#include "core/sorted_set/form/score_form_table.h"
#include "core/sorted_set/skip_list/prefetch_step.h"
#include "core/util/range.h"
#include "core/util/tagged_owner.h"
#include "core/util/time.h"

namespace zsetd {

class BlockSkipList;
class SortedSetSnapshot;
class SortedSetBuilder;

// One element of a set. The bytes of a member that a cursor returned are valid until the cursor is
// moved or destroyed, or the set changes.
struct Element {
  std::string_view member;
  double score = 0;
};

// The result of adding to a sorted set.
struct AddResult {
  enum class Kind {
    kAdded,
    kUpdated,
    kUnchanged,   // the member existed with this score
    kRefused,     // the rule forbade it
    kNotANumber,  // the sum of opposite infinities; nothing was changed
  };
  Kind kind = Kind::kUnchanged;
  double score = 0;  // the element's score afterwards; if IsRefused(), meaningless

  bool IsRefused() const { return kind == Kind::kRefused || kind == Kind::kNotANumber; }
  bool Changed() const { return kind == Kind::kAdded || kind == Kind::kUpdated; }
};

// The options of ZADD that apply to one addition.
struct AddRule {
  bool only_new = false;       // NX: update nothing
  bool only_existing = false;  // XX: add nothing
  bool only_greater = false;   // GT: an existing score may only rise
  bool only_less = false;      // LT: an existing score may only fall
  bool increment = false;      // INCR: the score is added to the existing one
  bool keep_deadline = false;  // KEEPTTL: an existing member keeps its deadline
};

// The encoding that Redis would use for a sorted set, which depends on its history: from listpack
// to skiplist, never back. Only reported; zsetd's own representation has other limits.
enum class SortedSetEncoding : uint8_t { kListpack, kSkiplist };

// The limits of the listpack encoding: members, and bytes of a member.
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
// A set starts as a single block; levels and index are added when that overflows.
//
// A member may have a deadline, an instant in milliseconds. The set does not remove due members by
// itself; RemoveDue() does. Sets without deadlines spend nothing on them. Setting the score of a
// member, also to the same score, removes its deadline; incrementing it does not.
//
// A member may have a payload, which is a string that the set keeps until the member is removed.
// Changes of the score keep it. Sets without payloads spend nothing on them.
//
// A set may have a form of scores other than DOUBLE, which is chosen while it is empty. Its scores
// are codes (core/sorted_set/form/score_form.h): the `double` of an element or a cursor then only
// carries the bits of a code, which `ScoreCode()` returns. Such a double is no number, may be NaN,
// and is neither compared nor computed with. `Add()` and the ranges of scores are not for such a
// set; `Place()` and the ranges of codes are.
//
// Invariants: without a form, no score is NaN; -0.0 is stored as 0.0; the revision changes with
// every change of contents. Movable, not copyable (see Clone() for the cost); a moved-from set is
// empty. Costs are for n elements; no single change takes longer because the set is large.
class SortedSet {
 public:
  class Cursor;

  SortedSet();
  SortedSet(SortedSet&&) noexcept;
  SortedSet& operator=(SortedSet&&) noexcept;
  ~SortedSet();

  SortedSet Clone() const;  // O(n): its allocations are copied as they are

  // A set of the elements of the range, which lies inside this set, without deadlines and payloads.
  // O(log n + copied).
  SortedSet Copy(RankRange ranks) const;

  size_t size() const;  // O(1)
  bool empty() const { return size() == 0; }

  // A number that changes with every change of the contents. O(1).
  uint32_t revision() const { return revision_; }

  // The longest member that was ever added, in bytes, remembered up to 65,535: a bound that
  // removals do not lower and that a clone keeps. O(1).
  size_t longest_member() const { return longest_member_; }

  SortedSetEncoding encoding() const {
    return is_skiplist_ ? SortedSetEncoding::kSkiplist : SortedSetEncoding::kListpack;
  }

  // Whether the form of the scores is another one than DOUBLE, and the form. O(1).
  bool has_form() const { return form_ != ScoreFormTable::kDouble; }
  const ScoreForm& form() const { return ScoreFormTable::Get(form_); }

  // Whether the scores of both sets have the same form. O(1).
  bool HasFormOf(const SortedSet& other) const { return form_ == other.form_; }

  // Gives the set a form. Precondition: the set is empty and has none. Returns false if too many
  // forms are in use (ScoreFormTable::kMostForms).
  bool SetForm(const ScoreForm& form);

  // Updates the encoding for a set that has, or is about to have, this number of members, one of
  // them of this length. O(1).
  void Expect(size_t members, size_t member_bytes, const SortedSetLimits& limits);

  // The heap bytes of the set, including allocator rounding, without the object itself. O(1).
  size_t BytesUsed() const;

  // Adds the member or moves it to `score`, which is not NaN. Removes the deadline of an existing
  // member, as the class comment states. O(log n).
  AddResult Set(std::string_view member, double score) { return Add(member, score, AddRule()); }
  AddResult Add(std::string_view member, double score, const AddRule& rule);

  // Adds the member to a set with a form, or moves it to that code. Removes the deadline of an
  // existing member unless `keeps_deadline`. Never refuses. O(log n).
  AddResult Place(std::string_view member, uint64_t code, bool keeps_deadline = false);

  // Removes the member. Returns false if it does not exist. O(log n).
  bool Remove(std::string_view member);

  // Removes the elements of the range, clipped to the set, and returns their number.
  // O(log n + removed).
  size_t Remove(RankRange ranks);

  // Like Remove(), but returns the memory that is slow to free, or null. The last pointer frees it,
  // on any thread.
  std::shared_ptr<void> Cut(RankRange ranks);

  // Whether any member has a deadline. O(1).
  bool has_deadlines() const;

  // The earliest deadline; nullopt if no member has one. O(1); for a small set O(n).
  std::optional<Millis> EarliestDeadline() const;

  // The deadline of a member; nullopt if it has none, or does not exist. O(1).
  std::optional<Millis> Deadline(std::string_view member) const;

  // Sets or removes the deadline of a member. Returns false, and keeps the revision, if the member
  // does not exist or has that deadline. Deadlines outside the years 1970 to 4199 are clamped.
  // O(log n); the first one of a set O(n / 100).
  bool SetDeadline(std::string_view member, std::optional<Millis> deadline);

  // Whether any member has a payload. O(blocks).
  bool HasPayloads() const;

  // The payload of a member; nullopt if it has none, or does not exist. Valid until the next change
  // of the set. O(1).
  std::optional<std::string_view> Payload(std::string_view member) const;

  // Sets, replaces or removes the payload of a member. Returns false, and keeps the revision, if
  // the member does not exist or has that payload. O(log n + bytes).
  bool SetPayload(std::string_view member, std::optional<std::string_view> payload);

  // Removes at most `most` elements whose deadline is at or before `now`, and appends their members
  // to `removed`. If due elements are far apart, the longest overdue ones are removed first. O(log
  // n) each.
  void RemoveDue(Millis now, size_t most, std::vector<std::string>& removed);

  bool Contains(std::string_view member) const;                // O(1)
  std::optional<double> Score(std::string_view member) const;  // O(1)
  std::optional<size_t> Rank(std::string_view member) const;   // O(log n)

  // Prefetches one step of the memory that finding the member will read. Call it for several
  // members before the next step, so that their loads overlap. `hash` is the member's KeyedHash.
  void Prefetch(uint64_t hash, PrefetchStep step) const;

  // Prefetches the memory that every operation reads first.
  void PrefetchStart() const;

  // The elements that lie in the range, clipped to the set. O(log n).
  RankRange Ranks(const ScoreRange& range) const;
  RankRange Ranks(const CodeRange& range) const;
  RankRange Ranks(const LexRange& range) const;

  // Visits some elements, in no order, and returns the next cursor, 0 at the end. A scan from 0 to
  // 0 visits every element that exists throughout, even if others are added, removed or updated
  // between the calls. An element may be visited twice, with its score at that time. All elements
  // of a small set are visited in one call. O(1) expected.
  uint64_t Scan(uint64_t cursor, const std::function<void(const Element&)>& visit) const;

  // A cursor at the element of that rank, or past the end. O(log n).
  Cursor At(size_t rank) const;

  // Starts a snapshot of the elements at this instant, which hands them out in steps while the set
  // changes. Returns null for a small set. A set has one snapshot at a time. If the set is
  // destroyed first, its destructor copies the remaining blocks, which is slow. O(blocks), with a
  // small constant.
  std::unique_ptr<SortedSetSnapshot> StartSnapshot() const;

  // Identifies the contents, independently of the object that holds them; null for a small set.
  const void* identity() const { return list(); }

  // Asserts the invariants of all parts; for tests. O(n log n).
  void Check() const;

  // Calls visit(const Block&) for the packed blocks of the set, in order.
  template <class Visit>
  void ForEachBlock(Visit visit) const;

 private:
  friend class Cursor;
  friend class SortedSetBuilder;
  struct FreeBlock {
    void operator()(Block* block) const;
  };

  BlockPlace Find(std::string_view member) const;  // false if it does not exist
  size_t RankOf(const BlockPlace& place, std::string_view member) const;
  size_t CountBefore(uint64_t code, std::string_view member) const;
  size_t CountBefore(std::string_view member) const;  // by members alone; the set is not empty
  template <class Insert, class MoveTo>
  AddResult AddOrMove(const BlockPlace& place, std::string_view member, double score,
                      const AddRule& rule, Insert insert, MoveTo move_to);
  void ReleaseForm();
  template <class MoveTo>
  AddResult MoveWithDeadline(const BlockPlace& place, std::string_view member, uint64_t code,
                             AddResult result, bool keeps_deadline, MoveTo move_to);
  void SetDeadline(const BlockPlace& place, uint64_t deadline);
  void SetPayload(const BlockPlace& place, std::string_view member, const PackedPayload& payload);
  void MoveInOnly(const BlockPlace& place, std::string_view member, uint64_t code);
  void MoveInOnly(const BlockPlace& place, const BlockItem& item);
  const Block* EarliestBlock() const;
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

  // One word, because most sets have few elements. Null for an empty set.
  TaggedOwner<Block, BlockSkipList, FreeBlock, std::default_delete<BlockSkipList>> contents_;
  uint32_t revision_ = 0;
  uint16_t longest_member_ = 0;
  uint16_t form_ : 15 = ScoreFormTable::kDouble;
  uint16_t is_skiplist_ : 1 = 0;
};

// A position in a set, to iterate in either direction: O(1) a step. Invalid after any change of the
// set.
//
//   for (auto at = set.At(0); at.valid(); at.Next()) Use(at.element());
class SortedSet::Cursor {
 public:
  bool valid() const { return valid_; }  // false past either end, and from then on
  Element element() const { return {member(), score()}; }  // this and below: only while valid
  double score() const { return ScoreOf(reader_.code()); }

  std::optional<Millis> deadline() const;  // nullopt without one

  // The payload; nullopt without one. Valid until the set changes. O(1).
  std::optional<std::string_view> payload() const {
    return reader_.block()->PayloadAt(reader_.index()).view();
  }

  // The member in one of two ways, as in BlockReader: in place, or written to a buffer.
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

  const BlockSkipList* list_ = nullptr;  // null for a small set
  BlockReader reader_;
  bool valid_ = false;
};

inline bool SortedSet::Contains(std::string_view member) const { return bool(Find(member)); }

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
