#include "server/commands/zset/zset_long_range.h"

#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/util/glob.h"
#include "server/commands/zset/zset_reply.h"
#include "server/engine/store/value_copies.h"

namespace zsetd {
namespace {

using SharedSet = std::shared_ptr<const SortedSet>;

SharedSet CopyOfSet(Call& call, std::string_view key, const SortedSet& set) {
  return call.keys.copies().Take<SortedSet>(
      call.keys.database(), key, [&] { return std::make_shared<SortedSet>(set.Clone()); });
}

size_t ShareOf(const SharedSet& set) {
  assert(set != nullptr && set.use_count() > 0);
  return set->BytesUsed() / static_cast<size_t>(set.use_count());
}

// A range of a set, read from one end to the other.
class RangeWalk {
 public:
  RangeWalk(const SortedSet& set, RankRange ranks, bool reversed)
      : at_(set.At(reversed ? ranks.last - 1 : ranks.first)), reversed_(reversed) {
    assert(!ranks.empty() && ranks.last <= set.size());
  }

  const SortedSet::Cursor& at() const { return at_; }
  void Next() { reversed_ ? at_.Previous() : at_.Next(); }

 private:
  SortedSet::Cursor at_;
  bool reversed_;
};

class LongElementRange : public LongReply {
 public:
  LongElementRange(SharedSet set, RankRange ranks, const RangeRequest& request, Millis now)
      : set_(std::move(set)),
        walk_(*set_, ranks, request.IsReversed()),
        left_(ranks.size()),
        parts_(PartsIn(*set_, request.parts, now)) {}

  bool WriteNext(ReplyWriter& reply) override {
    assert(left_ > 0);
    ReplyElement(reply, walk_.at(), parts_);
    if (--left_ == 0) return false;
    walk_.Next();
    return true;
  }

  size_t BytesUsed() const override { return ShareOf(set_); }

 private:
  const SharedSet set_;
  RangeWalk walk_;
  size_t left_;
  const ElementParts parts_;
};

// The elements of a range that match a pattern and lie within its limit. All are compared first,
// because the reply begins with their number.
class Matches {
 public:
  // The set outlives this.
  Matches(const SortedSet& set, RankRange ranks, const RangeRequest& request, Millis now)
      : set_(set),
        ranks_(ranks),
        reversed_(request.IsReversed()),
        parts_(PartsIn(set, request.parts, now)),
        pattern_(*request.pattern),
        comparing_(set, ranks, reversed_),
        left_(ranks.size()) {
    const RangeRequest::Limit limit = request.limit.value_or(RangeRequest::Limit());
    to_skip_ = static_cast<uint64_t>(limit.offset);
    most_ = static_cast<uint64_t>(limit.count);  // a negative one is never reached
    if (limit.offset < 0 || limit.count == 0) left_ = 0;
  }

  // Compares this number of elements. Returns whether more are left.
  bool Compare(size_t elements) {
    for (; left_ > 0 && elements > 0; --elements) {
      const bool is_match = GlobMatches(pattern_, comparing_.at().member());
      const bool is_selected = is_match && to_skip_ == 0;
      if (is_match && !is_selected) --to_skip_;
      selected_.push_back(is_selected);
      count_ += is_selected;
      --left_;
      if (count_ == most_) left_ = 0;
      if (left_ > 0) comparing_.Next();
    }
    return left_ > 0;
  }

  // Must be called once, when all elements are compared. Returns whether WriteNext() may follow.
  bool StartReply(ReplyWriter& reply) {
    assert(left_ == 0);
    StartElements(reply, count_, parts_);
    if (count_ == 0) return false;
    writing_ = std::make_unique<RangeWalk>(set_, ranks_, reversed_);
    return true;
  }

  // Replies the next selected element. Returns whether more are left.
  bool WriteNext(ReplyWriter& reply) {
    assert(count_ > 0);
    for (; !selected_[written_]; ++written_) writing_->Next();
    ReplyElement(reply, writing_->at(), parts_);
    if (--count_ == 0) return false;
    ++written_;
    writing_->Next();
    return true;
  }

  size_t BytesUsed() const { return selected_.capacity() / 8 + pattern_.size(); }

 private:
  const SortedSet& set_;
  const RankRange ranks_;
  const bool reversed_;
  const ElementParts parts_;
  const std::string pattern_;
  RangeWalk comparing_;
  size_t left_;  // to compare
  uint64_t to_skip_ = 0;
  uint64_t most_ = 0;
  std::vector<bool> selected_;  // for each element that was compared
  size_t count_ = 0;            // of selected elements that are not written
  std::unique_ptr<RangeWalk> writing_;
  size_t written_ = 0;  // elements that `writing_` has passed
};

class LongMatches : public LongReply {
 public:
  LongMatches(SharedSet set, RankRange ranks, const RangeRequest& request, Millis now)
      : set_(std::move(set)), matches_(*set_, ranks, request, now) {}

  bool WriteNext(ReplyWriter& reply) override {
    constexpr size_t kStep = 2048;  // comparisons, in some tenths of a millisecond
    if (started_) return matches_.WriteNext(reply);
    if (matches_.Compare(kStep)) return true;
    started_ = true;
    return matches_.StartReply(reply);
  }

  size_t BytesUsed() const override { return ShareOf(set_) + matches_.BytesUsed(); }

 private:
  const SharedSet set_;
  Matches matches_;
  bool started_ = false;
};

constexpr size_t kLargeRange = 16'384;

// Whether the elements are many, are this share of the set at least, and the reply may be delayed.
bool IsWorthACopy(const Call& call, const SortedSet& set, size_t elements, size_t least_share) {
  return elements >= kLargeRange && elements >= set.size() / least_share && call.caller.MayBlock();
}

}  // namespace

// A copy takes more time than a direct reply of a quarter of the set, with or without scores.
bool IsLongRange(const Call& call, const SortedSet& set, size_t elements) {
  constexpr size_t kLeastShare = 4;
  return IsWorthACopy(call, set, elements, kLeastShare);
}

void ReplyElementsAtLength(Call& call, std::string_view key, const SortedSet& set, RankRange ranks,
                           const RangeRequest& request) {
  StartElements(call.reply, ranks.size(), request.parts);
  call.ReplyAtLength(
      std::make_unique<LongElementRange>(CopyOfSet(call, key, set), ranks, request, call.now()));
}

void ReplyMatches(Call& call, std::string_view key, const SortedSet& set,
                  const RangeRequest& request) {
  constexpr size_t kLeastShare = 16;  // smaller because a comparison may be slow
  const RankRange ranks = request.RanksIn(set);
  if (ranks.empty()) return StartElements(call.reply, 0, request.parts);
  const bool may_copy = IsWorthACopy(call, set, ranks.size(), kLeastShare);
  Matches matches(set, ranks, request, call.now());
  if (matches.Compare(may_copy ? kLargeRange : ranks.size())) {
    if (call.IsPutOff()) return;
    return call.ReplyAtLength(
        std::make_unique<LongMatches>(CopyOfSet(call, key, set), ranks, request, call.now()));
  }
  bool more = matches.StartReply(call.reply);
  while (more && !call.reply.IsFull()) more = matches.WriteNext(call.reply);
}

}  // namespace zsetd
