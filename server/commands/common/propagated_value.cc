#include "server/commands/common/propagated_value.h"

#include <algorithm>
#include <cassert>

#include "core/keyspace/value.h"
#include "protocol/text/number_text.h"
#include "server/commands/common/formed_scores.h"
#include "server/engine/propagation/effects.h"

namespace zsetd {
namespace {

void PropagateElements(Call& call, std::string_view key, const SortedSet& set) {
  if (set.has_form()) {
    PropagatedScores scores(call, key, set.form());
    for (auto at = set.At(0); at.valid(); at.Next()) scores.Add(at.member(), at.score());
    return;
  }
  PropagatedItems items(call, "ZADD", key, set.size(), 2);
  for (SortedSet::Cursor at = set.At(0); at.valid(); at.Next()) {
    items.Add({DoubleText(at.score()), at.member()});
  }
}

void PropagateElements(Call& call, std::string_view key, const List& list) {
  PropagatedItems items(call, "RPUSH", key, list.size());
  for (List::Cursor at = list.CursorAt(0); at.valid(); at.Next()) items.Add({at.element()});
}

}  // namespace

PropagatedItems::PropagatedItems(Call& call, std::string_view command, std::string_view key,
                                 size_t items, size_t words)
    : call_(call), command_(command), key_(key), left_(items), words_(words) {}

void PropagatedItems::Add(std::initializer_list<std::string_view> item) {
  if (!call_.Propagates()) return;
  assert(left_ > 0 && item.size() == words_);
  Effects& effects = call_.effects();
  if (left_in_request_ == 0) {
    left_in_request_ = std::min(left_, Effects::kMostItems);
    effects.Begin(call_.caller.database, 2 + left_in_request_ * words_);
    effects.AddWord(command_);
    effects.AddWord(key_);
    call_.MarkPropagated();
  }
  for (const std::string_view word : item) effects.AddWord(word);
  --left_in_request_;
  --left_;
}

void PropagateValue(Call& call, std::string_view key) {
  if (!call.Propagates()) return;
  const Entry* const entry = call.keys.all().Find(key);
  if (entry != nullptr && entry->Holds<ByteString>()) {
    return call.Propagate({"SET", key, entry->GetIf<ByteString>()->view()});
  }
  call.Propagate({"DEL", key});
  if (entry == nullptr) return;
  if (const SortedSet* const set = entry->GetIf<SortedSet>()) PropagateElements(call, key, *set);
  if (const List* const list = entry->GetIf<List>()) PropagateElements(call, key, *list);
}

}  // namespace zsetd
