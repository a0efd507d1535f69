#include "server/commands/zset/zset_reply.h"

#include <cassert>

#include "server/engine/support/score_text.h"

namespace zsetd {
namespace {

static_assert(SortedSet::Cursor::kTooMany <= OutputBuffer::kSlack);

void ReplyMember(ReplyWriter& reply, const SortedSet::Cursor& at) {
  if (at.is_in_place()) return reply.Bulk(at.member());
  reply.Bulk(at.member_size(), [&at](char* to) { at.WriteMember(to); });
}

void StartElement(ReplyWriter& reply, const ElementParts& parts) {
  if (parts.count() > 1 && reply.protocol() == Protocol::kResp3) reply.Array(parts.count());
}

void ReplyPayload(ReplyWriter& reply, std::optional<std::string_view> payload) {
  payload ? reply.Bulk(*payload) : reply.Null();
}

void ReplyScoreOf(ReplyWriter& reply, double score, const ElementParts& parts) {
  parts.form == nullptr ? reply.Double(score)
                        : reply.Bulk(ScoreText(*parts.form, score, parts.now));
}

void ReplyMore(ReplyWriter& reply, const SortedSet::Cursor& at, const ElementParts& parts) {
  if (parts.score) ReplyScoreOf(reply, at.score(), parts);
  if (parts.payload) ReplyPayload(reply, at.payload());
}

// Replies the parts one after another. It is inlined, because most replies of ranges contain only
// the members.
[[gnu::always_inline]] inline void ReplyParts(ReplyWriter& reply, const SortedSet::Cursor& at,
                                              const ElementParts& parts) {
  ReplyMember(reply, at);
  if (parts.score || parts.payload) ReplyMore(reply, at, parts);
}

}  // namespace

void StartElements(ReplyWriter& reply, size_t count, const ElementParts& parts) {
  const bool flat = reply.protocol() == Protocol::kResp2;
  reply.Array(flat ? parts.count() * count : count);
}

void ReplyElement(ReplyWriter& reply, const Element& element,
                  std::optional<std::string_view> payload, const ElementParts& parts) {
  StartElement(reply, parts);
  reply.Bulk(element.member);
  if (parts.score) ReplyScoreOf(reply, element.score, parts);
  if (parts.payload) ReplyPayload(reply, payload);
}

void ReplyElement(ReplyWriter& reply, const SortedSet::Cursor& at, const ElementParts& parts) {
  StartElement(reply, parts);
  ReplyParts(reply, at, parts);
}

void ReplyScore(Call& call, const SortedSet* set, std::optional<double> score) {
  if (!score) return call.reply.Null();
  ReplyScoreOf(call.reply, *score, PartsIn(*set, {}, call.now()));
}

void ReplyTuple(Call& call, const SortedSet& set, size_t rank, bool with_payload) {
  const ElementParts parts = PartsIn(set, {.score = true, .payload = with_payload}, call.now());
  call.reply.Array(parts.count());
  ReplyParts(call.reply, set.At(rank), parts);
}

void ReplyKeyAndElement(Call& call, std::string_view key, const SortedSet& set, size_t rank,
                        bool with_payload) {
  const ElementParts parts = PartsIn(set, {.score = true, .payload = with_payload}, call.now());
  call.reply.Array(1 + parts.count());
  call.reply.Bulk(key);
  ReplyParts(call.reply, set.At(rank), parts);
}

void ReplyKeyAndTuples(Call& call, std::string_view key, const SortedSet& set, RankRange ranks,
                       bool reversed, bool with_payloads) {
  call.reply.Array(2);
  call.reply.Bulk(key);
  call.reply.Array(ranks.size());
  const ElementParts parts = PartsIn(set, {.score = true, .payload = with_payloads}, call.now());
  SortedSet::Cursor at = set.At(reversed ? ranks.last - 1 : ranks.first);
  for (size_t i = 0; i < ranks.size(); ++i, reversed ? at.Previous() : at.Next()) {
    call.reply.Array(parts.count());
    ReplyParts(call.reply, at, parts);
  }
}

void ReplyElements(Call& call, const SortedSet* set, RankRange ranks, bool reversed,
                   ElementParts parts) {
  assert(set == nullptr || ranks.last <= set->size());
  const size_t count = set == nullptr ? 0 : ranks.size();
  StartElements(call.reply, count, parts);
  if (count == 0) return;
  parts = PartsIn(*set, parts, call.now());
  SortedSet::Cursor at = set->At(reversed ? ranks.last - 1 : ranks.first);
  for (size_t left = count; left > 0; --left) {
    ReplyElement(call.reply, at, parts);
    if (left == 1) break;
    if (reversed) {
      at.Previous();
    } else {
      at.Next();
    }
  }
}

}  // namespace zsetd
