#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "server/engine/call.h"
#include "server/engine/store/value_copies.h"

namespace zsetd {

// The number of random elements that a command returns. If the count is negative, an element may be
// returned more than once.
struct RandomRequest {
  bool counted = false;  // false: a single element, not in an array
  int64_t count = 0;
  bool with_more = false;  // scores or values
  bool with_data = false;  // WITHDATA: payloads

  bool may_repeat() const { return count < 0; }
  size_t size() const { return may_repeat() ? -count : count; }
};

// Takes the remaining arguments: none, or a count. Unless `more` is empty, this option may follow
// the count, and WITHDATA too if `may_have_data`.
RandomRequest TakeRandomRequest(ArgReader& args, std::string_view more = "",
                                bool may_have_data = false);

// Any number of draws from a copy of the value, which does not change during the reply.
template <class Copy, class Draw>
class LongDraws : public LongReply {
 public:
  LongDraws(std::shared_ptr<Copy> copy, size_t count, Draw draw, Rng& rng)
      : copy_(std::move(copy)), left_(count), draw_(draw), rng_(rng) {}

  bool WriteNext(ReplyWriter& reply) override {
    assert(left_ > 0);
    draw_(reply, *copy_, rng_);
    return --left_ > 0;
  }

  size_t BytesUsed() const override {
    return copy_->BytesUsed() / static_cast<size_t>(copy_.use_count());
  }

 private:
  std::shared_ptr<Copy> copy_;
  size_t left_;
  Draw draw_;
  Rng& rng_;
};

// Replies `count` draws from the value at `key`. The header must be written before. `draw` is
// called with ReplyWriter&, the value or a copy of it, and Rng&, and must not keep a view. A copy
// is only made if the reply is longer than the value, and all such replies share it until the key
// changes. `make_copy()` returns a shared pointer to it.
template <class Copy, class Whole, class MakeCopy, class Draw>
void ReplyDraws(Call& call, std::string_view key, const Whole& whole, MakeCopy make_copy,
                size_t count, Draw draw) {
  constexpr size_t kMany = 1000;             // fewer are replied in one piece
  constexpr size_t kMostQueued = 1'000'000;  // a transaction's replies are kept as a whole
  Rng& rng = call.keys.rng();
  if (call.caller.transaction.open && count > kMostQueued) {
    return call.Fail("ERR value is out of range, too many for a transaction");
  }
  if (count > std::max(kMany, whole.size())) {
    auto copy = call.keys.copies().Take<Copy>(call.keys.database(), key, make_copy);
    return call.ReplyAtLength(
        std::make_unique<LongDraws<Copy, Draw>>(std::move(copy), count, draw, rng));
  }
  for (size_t left = count; left > 0; --left) draw(call.reply, whole, rng);
}

template <class Whole, class Draw>
void ReplyDraws(Call& call, std::string_view key, const Whole& whole, size_t count, Draw draw) {
  ReplyDraws<Whole>(
      call, key, whole, [&] { return std::make_shared<Whole>(whole.Clone()); }, count, draw);
}

}  // namespace zsetd
