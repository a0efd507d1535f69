#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "core/sorted_set/sorted_set.h"
#include "server/engine/call.h"

namespace zsetd {

// Starts a reply of `count` elements. With scores, the reply is an array of pairs in RESP3, and a
// flat array in RESP2.
void StartElements(ReplyWriter& reply, size_t count, bool with_scores);
void ReplyElement(ReplyWriter& reply, const Element& element, bool with_scores);
void ReplyElement(ReplyWriter& reply, const SortedSet::Cursor& at, bool with_scores);

// Replies the score, or null without one.
void ReplyScore(ReplyWriter& reply, std::optional<double> score);

// Replies the member and its score as an array of two.
void ReplyPair(ReplyWriter& reply, const Element& element);

// Replies the key, the member and its score, as BZPOPMIN does.
void ReplyKeyAndElement(Call& call, std::string_view key, const Element& element);

// Replies the key, then the elements of `ranks` as pairs, the highest first if `reversed`. They are
// nested in RESP2 too.
void ReplyKeyAndPairs(Call& call, std::string_view key, const SortedSet& set, RankRange ranks,
                      bool reversed);

// Replies the elements of `ranks`, which are within the set, the highest first if `reversed`. A
// null set is empty.
void ReplyElements(Call& call, const SortedSet* set, RankRange ranks, bool reversed,
                   bool with_scores);

}  // namespace zsetd
