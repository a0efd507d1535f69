#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "core/sorted_set/sorted_set.h"
#include "server/engine/call.h"

namespace zsetd {

// The parts of an element that a reply has besides the member, in this order.
struct ElementParts {
  bool score = false;    // WITHSCORES
  bool payload = false;  // WITHDATA: null for a member without one

  // The form of the scores; null for doubles. Scores with a form are bulk strings, in RESP3 too.
  const ScoreForm* form = nullptr;
  Millis now{0};  // of scores that decay

  size_t count() const { return size_t{1} + score + payload; }
};

// The parts of elements of this set, whose scores are those of `now`.
inline ElementParts PartsIn(const SortedSet& set, ElementParts parts, Millis now) {
  if (set.has_form()) [[unlikely]] {
    parts.form = &set.form();
    parts.now = now;
  }
  return parts;
}

// Starts a reply of `count` elements. With other parts than the member, the reply is an array of
// arrays in RESP3, and a flat array in RESP2.
void StartElements(ReplyWriter& reply, size_t count, const ElementParts& parts);

// Replies one of these elements.
void ReplyElement(ReplyWriter& reply, const Element& element,
                  std::optional<std::string_view> payload, const ElementParts& parts);
void ReplyElement(ReplyWriter& reply, const SortedSet::Cursor& at, const ElementParts& parts);

// Replies the score of an element of the set, or null without one.
void ReplyScore(Call& call, const SortedSet* set, std::optional<double> score);

// Replies the member of that rank, its score and, if requested, its payload as an array.
void ReplyTuple(Call& call, const SortedSet& set, size_t rank, bool with_payload);

// Replies the key and the same parts, as BZPOPMIN does.
void ReplyKeyAndElement(Call& call, std::string_view key, const SortedSet& set, size_t rank,
                        bool with_payload);

// Replies the key, then the elements of `ranks` as tuples, the highest first if `reversed`. They
// are nested in RESP2 too.
void ReplyKeyAndTuples(Call& call, std::string_view key, const SortedSet& set, RankRange ranks,
                       bool reversed, bool with_payloads);

// Replies the elements of `ranks`, which are within the set, the highest first if `reversed`. A
// null set is empty.
void ReplyElements(Call& call, const SortedSet* set, RankRange ranks, bool reversed,
                   ElementParts parts);

}  // namespace zsetd
