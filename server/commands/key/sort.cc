// SORT and SORT_RO.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/hashing/key_slot.h"
#include "core/keyspace/entry.h"
#include "core/keyspace/value.h"
#include "protocol/text/number_text.h"
#include "server/commands/common/propagated_value.h"
#include "server/commands/key/families.h"
#include "server/commands/key/sort_request.h"
#include "server/engine/acl/acl_user.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

// The elements of a list, set or sorted set, in its order. Valid until the key changes.
class SortElements {
 public:
  // All elements of the value. If they are not sorted, only the requested ones. None if `entry` is
  // null.
  SortElements(const Entry* entry, const SortRequest& request);
  SortElements(const SortElements&) = delete;

  const std::vector<std::string_view>& views() const { return views_; }

 private:
  void Load(const List& list, RankRange range, bool reversed);
  void Load(const Set& set, RankRange range);
  void Load(const SortedSet& set, RankRange range, bool reversed);

  // Copies of a sorted set's members, to which views cannot refer.
  std::vector<std::string> copies_;
  std::vector<std::string_view> views_;
};

// Whether the value is of a type that SORT accepts.
bool IsSortable(const Entry& entry) {
  return entry.Holds<List>() || entry.Holds<Set>() || entry.Holds<SortedSet>();
}

// If the elements are not sorted, DESC reverses their order. The order of a set stays.
SortElements::SortElements(const Entry* entry, const SortRequest& request) {
  const auto range_of = [&](size_t size) {
    return request.sorts ? RankRange{.first = 0, .last = size} : request.Within(size);
  };
  if (entry == nullptr) return;
  const bool reversed = !request.sorts && request.descending;
  if (const List* list = entry->GetIf<List>()) Load(*list, range_of(list->size()), reversed);
  if (const Set* set = entry->GetIf<Set>()) Load(*set, range_of(set->size()));
  if (const SortedSet* set = entry->GetIf<SortedSet>()) {
    Load(*set, range_of(set->size()), reversed);
  }
}

void SortElements::Load(const List& list, RankRange range, bool reversed) {
  if (range.empty()) return;
  views_.reserve(range.size());
  auto at = list.CursorAt(reversed ? list.size() - 1 - range.first : range.first);
  for (size_t left = range.size(); left > 0; --left) {
    views_.push_back(at.element());
    if (reversed) {
      at.Previous();
    } else {
      at.Next();
    }
  }
}

void SortElements::Load(const Set& set, RankRange range) {
  views_.reserve(range.size());
  size_t place = 0;
  set.ForEach([&](std::string_view member) {
    if (place >= range.first && place < range.last) views_.push_back(member);
    ++place;
  });
}

void SortElements::Load(const SortedSet& set, RankRange range, bool reversed) {
  if (range.empty()) return;
  copies_.reserve(range.size());
  auto at = set.At(reversed ? set.size() - 1 - range.first : range.first);
  for (size_t left = range.size(); left > 0; --left) {
    copies_.emplace_back(at.element().member);
    if (reversed) {
      at.Previous();
    } else {
      at.Next();
    }
  }
  views_.assign(copies_.begin(), copies_.end());
}

// One element with its weight: a number, or a text if ALPHA is given.
struct Item {
  std::string_view element;
  double number = 0;
  std::optional<std::string_view> text;
  size_t place = 0;  // its index before sorting
};

// Parses the number of a weight like strtod: blanks may precede it, and an empty text is 0.
std::optional<double> NumberOf(std::string_view weight) {
  if (weight.empty()) return 0;
  const size_t start = weight.find_first_not_of(" \t\n\v\f\r");
  if (start == std::string_view::npos) return std::nullopt;
  return ParseDouble(weight.substr(start));
}

// A missing weight is the number 0, or comes before every text.
Item Weighed(Call& call, const SortRequest& request, std::string_view element, size_t place) {
  Item item = {.element = element, .place = place};
  const auto weight = request.weights ? request.weights->Resolve(call, element) : element;
  if (request.by_bytes) {
    item.text = weight;
  } else if (weight) {
    const std::optional<double> number = NumberOf(*weight);
    if (!number) call.args.Refuse("ERR One or more scores can't be converted into double");
    item.number = number.value_or(0);
  }
  return item;
}

// As in Redis, elements with equal texts as weights keep their order. Elements with equal numbers
// are ordered by their bytes.
int Compare(const SortRequest& request, const Item& a, const Item& b) {
  if (request.by_bytes) return a.text < b.text ? -1 : a.text > b.text;
  if (a.number != b.number) return a.number < b.number ? -1 : 1;
  return a.element.compare(b.element);
}

// Puts the requested elements first, in order. A partial sort of many elements is slower than a
// sort.
void Sort(const SortRequest& request, RankRange range, std::vector<Item>& items) {
  assert(range.last <= items.size());
  const auto stands_before = [&](const Item& a, const Item& b) {
    const int order = request.descending ? Compare(request, b, a) : Compare(request, a, b);
    return order != 0 ? order < 0 : a.place < b.place;
  };
  const auto end = items.begin() + static_cast<ptrdiff_t>(range.last);
  if (range.last <= items.size() / 16) {
    return std::partial_sort(items.begin(), end, items.end(), stands_before);
  }
  std::nth_element(items.begin(), end, items.end(), stands_before);
  std::sort(items.begin(), end, stands_before);
}

std::vector<std::string_view> Sorted(Call& call, const SortRequest& request,
                                     const std::vector<std::string_view>& elements) {
  if (!request.sorts) return elements;
  std::vector<Item> items;
  items.reserve(elements.size());
  for (size_t place = 0; place < elements.size() && call.args.ok(); ++place) {
    items.push_back(Weighed(call, request, elements[place], place));
  }
  if (!call.args.ok()) return {};
  const RankRange range = request.Within(items.size());
  Sort(request, range, items);
  std::vector<std::string_view> sorted;
  sorted.reserve(range.size());
  for (size_t at = range.first; at < range.last; ++at) sorted.push_back(items[at].element);
  return sorted;
}

// Calls `visit` with each result, or nullopt for a missing one. Each element has one result per
// GET. Stops when the reply is full, because it will not be sent.
template <class Visit>
void ForEachResult(Call& call, const SortRequest& request,
                   const std::vector<std::string_view>& elements, Visit visit) {
  for (const std::string_view element : elements) {
    if (call.reply.IsFull()) return;
    if (request.results.empty()) visit(element);
    for (const SortPattern& pattern : request.results) visit(pattern.Resolve(call, element));
  }
}

using Result = std::optional<std::string_view>;

void Reply(Call& call, const SortRequest& request, const std::vector<std::string_view>& elements) {
  call.reply.Array(elements.size() * std::max<size_t>(request.results.size(), 1));
  ForEachResult(call, request, elements,
                [&](const Result& result) { call.reply.BulkOrNull(result); });
}

// A missing result is stored as an empty string.
void Store(Call& call, const SortRequest& request, const std::vector<std::string_view>& elements) {
  List list;
  ForEachResult(call, request, elements,
                [&](const Result& result) { list.PushBack(result.value_or("")); });
  call.reply.Integer(static_cast<int64_t>(list.size()));
  if (list.empty()) {
    if (call.keys.Erase(*request.destination)) PropagateValue(call, *request.destination);
    return;
  }
  const size_t count = list.size();
  call.keys.Put(*request.destination, std::move(list), KeyEvent::kSortStore, std::nullopt, count);
  PropagateValue(call, *request.destination);
}

// Refuses patterns to a user that may not read every key, because the elements determine the keys.
void CheckPatterns(Call& call, const SortRequest& request) {
  assert(call.caller.user() != nullptr);
  const User& user = *call.caller.user();
  if (user.MayDoAll() || user.MayReadAllKeysIn(call.command, call.argv())) return;
  if (request.weights && request.weights->NamesKeys()) {
    call.args.Refuse("ERR BY option of SORT denied due to insufficient ACL permissions.");
  } else if (!request.results.empty()) {
    call.args.Refuse("ERR GET option of SORT denied due to insufficient ACL permissions.");
  }
}

// In a cluster a pattern must contain the hash tag of the key, so that all keys that it stands for
// are on this node.
void CheckPatternSlots(Call& call, const SortRequest& request) {
  if (!call.keys.is_clustered()) return;
  const auto may_leave = [&](const SortPattern& pattern) {
    return pattern.NamesKeys() && PatternSlot(pattern.text()) != KeySlot(request.key);
  };
  constexpr std::string_view kReason =
      " option of SORT denied in cluster mode when keys formed by the pattern may be in different "
      "slots.";
  if (request.weights && may_leave(*request.weights)) {
    call.args.Refuse("ERR BY" + std::string(kReason));
  } else if (std::ranges::any_of(request.results, may_leave)) {
    call.args.Refuse("ERR GET" + std::string(kReason));
  }
}

// The order of a set's members is arbitrary. Sorts them by bytes if the result becomes a list, or
// if a script must receive the same reply each time.
void ForceOrder(const Entry* entry, bool in_script, SortRequest& request) {
  const bool is_needed = request.destination.has_value() || in_script;
  if (request.sorts || !is_needed || entry == nullptr || !entry->Holds<Set>()) return;
  request.sorts = true;
  request.by_bytes = true;
  request.weights.reset();
}

void RunSort(Call& call, bool may_store) {
  SortRequest request = TakeSortRequest(call.args, may_store);
  CheckPatternSlots(call, request);
  CheckPatterns(call, request);
  const Entry* entry = call.args.ok() ? call.keys.Find(request.key) : nullptr;
  if (entry != nullptr && !IsSortable(*entry)) call.args.Refuse(kWrongType);
  if (call.Refused()) return;
  ForceOrder(entry, call.caller.client() == nullptr, request);
  const SortElements elements(entry, request);
  const std::vector<std::string_view> sorted = Sorted(call, request, elements.views());
  if (call.Refused()) return;
  if (request.destination) {
    Store(call, request, sorted);
  } else {
    Reply(call, request, sorted);
  }
}

void SortCommand(Call& call) { RunSort(call, /*may_store=*/true); }
void SortRo(Call& call) { RunSort(call, /*may_store=*/false); }

constexpr std::string_view kStoreOption[] = {"STORE"};
constexpr ValuedOption kOtherOptions[] = {{"LIMIT", 2}, {"BY", 1}, {"GET", 1}};

constexpr Command kSortCommands[] = {
    {.name = "sort",
     .run = SortCommand,
     .arity = -2,
     .flags = kWrite | kDenyOom | kMovableKeys | kDangerous,
     .keys = {.first = 1,
              .last = 1,
              .step = 1,
              .options = kStoreOption,
              .options_from = 2,
              .other_options = kOtherOptions,
              .by_patterns = true},
     .group = CommandGroup::kGeneric,
     .since = "1.0.0",
     .usage = "key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC|DESC] "
              "[ALPHA] [STORE destination]",
     .summary = "Sorts a list, set or sorted set; returns or stores the result.",
     .cost = "O(N+M*log(M)) for N elements, of which M are returned",
     .key_use = "RO access,RO access,OW update",
     .categories = "@set @sortedset @list"},
    {.name = "sort_ro",
     .run = SortRo,
     .arity = -2,
     .flags = kReadOnly | kMovableKeys | kDangerous,
     .keys = {.first = 1, .last = 1, .step = 1, .options_from = 2, .by_patterns = true},
     .group = CommandGroup::kGeneric,
     .since = "7.0.0",
     .usage = "key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC|DESC] "
              "[ALPHA]",
     .summary = "Sorts a list, set or sorted set; returns the result.",
     .cost = "O(N+M*log(M)) for N elements, of which M are returned",
     .key_use = "RO access,RO access",
     .categories = "@set @sortedset @list"},
};

}  // namespace

std::span<const Command> SortCommands() { return kSortCommands; }

}  // namespace zsetd
