#include "server/commands/zset/zset_reply.h"

#include <cassert>

namespace zsetd {
namespace {

static_assert(SortedSet::Cursor::kTooMany <= OutputBuffer::kSlack);

void ReplyMember(ReplyWriter& reply, const SortedSet::Cursor& at) {
  if (at.is_in_place()) return reply.Bulk(at.member());
  reply.Bulk(at.member_size(), [&at](char* to) { at.WriteMember(to); });
}

void StartElement(ReplyWriter& reply, bool with_scores) {
  if (with_scores && reply.protocol() == Protocol::kResp3) reply.Array(2);
}

}  // namespace

void StartElements(ReplyWriter& reply, size_t count, bool with_scores) {
  const bool flat = with_scores && reply.protocol() == Protocol::kResp2;
  reply.Array(flat ? 2 * count : count);
}

void ReplyElement(ReplyWriter& reply, const Element& element, bool with_scores) {
  StartElement(reply, with_scores);
  reply.Bulk(element.member);
  if (with_scores) reply.Double(element.score);
}

void ReplyElement(ReplyWriter& reply, const SortedSet::Cursor& at, bool with_scores) {
  StartElement(reply, with_scores);
  ReplyMember(reply, at);
  if (with_scores) reply.Double(at.score());
}

void ReplyScore(ReplyWriter& reply, std::optional<double> score) {
  if (score) {
    reply.Double(*score);
  } else {
    reply.Null();
  }
}

void ReplyPair(ReplyWriter& reply, const Element& element) {
  reply.Array(2);
  reply.Bulk(element.member);
  reply.Double(element.score);
}

void ReplyKeyAndElement(Call& call, std::string_view key, const Element& element) {
  call.reply.Array(3);
  call.reply.Bulk(key);
  call.reply.Bulk(element.member);
  call.reply.Double(element.score);
}

void ReplyKeyAndPairs(Call& call, std::string_view key, const SortedSet& set, RankRange ranks,
                      bool reversed) {
  call.reply.Array(2);
  call.reply.Bulk(key);
  call.reply.Array(ranks.size());
  SortedSet::Cursor at = set.At(reversed ? ranks.last - 1 : ranks.first);
  for (size_t i = 0; i < ranks.size(); ++i, reversed ? at.Previous() : at.Next()) {
    ReplyPair(call.reply, at.element());
  }
}

void ReplyElements(Call& call, const SortedSet* set, RankRange ranks, bool reversed,
                   bool with_scores) {
  assert(set == nullptr || ranks.last <= set->size());
  const size_t count = set == nullptr ? 0 : ranks.size();
  StartElements(call.reply, count, with_scores);
  if (count == 0) return;
  SortedSet::Cursor at = set->At(reversed ? ranks.last - 1 : ranks.first);
  for (size_t left = count; left > 0; --left) {
    ReplyElement(call.reply, at, with_scores);
    if (left == 1) break;
    if (reversed) {
      at.Previous();
    } else {
      at.Next();
    }
  }
}

}  // namespace zsetd
