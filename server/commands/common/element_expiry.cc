#include "server/commands/common/element_expiry.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <map>

#include "core/hash/hash.h"
#include "core/sorted_set/sorted_set.h"
#include "protocol/text/number_text.h"
#include "server/commands/common/propagated_value.h"
#include "server/engine/propagation/effects.h"
#include "server/engine/support/ascii_case.h"

namespace zsetd {
namespace {

// The latest deadline of an element, which is Redis's limit for a field.
constexpr Millis kLatest{(int64_t{1} << 46) - 1};

ElementCondition TakeCondition(ArgReader& args) {
  if (args.Take("nx")) return ElementCondition::kNx;
  if (args.Take("xx")) return ElementCondition::kXx;
  if (args.Take("gt")) return ElementCondition::kGt;
  if (args.Take("lt")) return ElementCondition::kLt;
  return ElementCondition::kNone;
}

void TakeKeyword(ArgReader& args, const ElementWords& words) {
  if (args.Take(words.keyword)) return;
  args.Refuse("ERR Mandatory argument " + UpperCase(words.keyword) +
              " is missing or not at the right position");
}

}  // namespace

Millis CheckedElementDeadline(Call& call, std::string_view amount, const ExpiryUnit& unit) {
  const std::optional<int64_t> number = ParseInteger(amount);
  if (!number) call.args.Refuse(kNotAnInteger);
  if (number && *number < 0) call.args.Refuse("ERR invalid expire time, must be >= 0");
  if (!call.args.ok()) return Millis(0);
  const std::optional<Millis> deadline = CheckedDeadline(unit.origin, *number, unit.unit);
  if (!deadline || *deadline > kLatest) RefuseExpiry(call);
  return deadline.value_or(Millis(0));
}

std::optional<Millis> TakeElementDeadline(Call& call, LeastTime least) {
  const std::optional<ExpiryOption::Form> form = TakeExpiryForm(call.args);
  if (!form) return std::nullopt;
  if (call.args.AtEnd()) call.args.Refuse("ERR missing expire time");
  const std::optional<int64_t> amount = ParseInteger(call.args.Peek());
  if (least == LeastTime::kOne && amount && *amount <= 0) RefuseExpiry(call);
  return CheckedElementDeadline(call, call.args.Word(), UnitOf(*form, call.now()));
}

bool TakeElementDeadlineOption(Call& call, std::optional<Millis>& deadline, bool& keeps,
                               LeastTime least) {
  const bool is_second = deadline || keeps;
  if (call.args.Take("keepttl")) {
    keeps = true;
  } else if (const std::optional<Millis> taken = TakeElementDeadline(call, least)) {
    deadline = taken;
  } else {
    return false;
  }
  if (is_second) {
    call.args.Refuse("ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified");
  }
  return true;
}

bool Allows(ElementCondition condition, std::optional<Millis> present, Millis deadline) {
  switch (condition) {
    case ElementCondition::kNx:
      return !present;
    case ElementCondition::kXx:
      return present.has_value();
    case ElementCondition::kGt:
      return present && *present < deadline;
    case ElementCondition::kLt:
      return !present || *present > deadline;
    case ElementCondition::kNone:
      break;
  }
  return true;
}

Args TakeCountedElements(ArgReader& args, const ElementWords& words, std::string_view bad_count,
                         size_t each) {
  assert(each > 0);
  const int64_t count = args.IntegerIn(1, std::numeric_limits<int64_t>::max(), bad_count);
  const bool matches = args.left() % each == 0 && args.left() / each == static_cast<size_t>(count);
  if (!matches) {
    args.Refuse("ERR The `num" + std::string(words.unit) +
                "` parameter must match the number of arguments");
  }
  return args.Rest();
}

ElementExpireRequest TakeElementExpireRequest(Call& call, const ExpiryUnit& unit,
                                              const ElementWords& words) {
  ElementExpireRequest request;
  request.deadline = CheckedElementDeadline(call, call.args.Word(), unit);
  request.condition = TakeCondition(call.args);
  TakeKeyword(call.args, words);
  const std::string bad_count =
      "ERR Parameter `num" + std::string(words.capitalized_unit) + "` should be greater than 0";
  request.elements = TakeCountedElements(call.args, words, bad_count);
  return request;
}

Args TakeElements(Call& call, const ElementWords& words) {
  TakeKeyword(call.args, words);
  const std::string bad_count =
      "ERR Number of " + std::string(words.unit) + " must be a positive integer";
  return TakeCountedElements(call.args, words, bad_count);
}

void PropagateElementDeadline(Call& call, std::string_view key,
                              const std::vector<std::string_view>& elements,
                              std::optional<Millis> deadline, const ElementWords& words) {
  if (!call.Propagates()) return;
  const bool is_plain = words.is_known_to_redis && call.keys.readers_know_field_deadlines();
  const std::string keyword = UpperCase(words.keyword);
  const std::string time = deadline ? IntegerText(deadline->count()) : std::string();
  for (size_t first = 0; first < elements.size(); first += Effects::kMostItems) {
    const Args run = Args(elements).subspan(first);
    const Args some = run.first(std::min(run.size(), Effects::kMostItems));
    const std::string count = IntegerText(static_cast<int64_t>(some.size()));
    std::vector<std::string_view> request = {deadline ? words.pexpireat : words.persist, key};
    if (deadline) request.push_back(time);
    request.push_back(keyword);
    request.push_back(count);
    request.insert(request.end(), some.begin(), some.end());
    if (is_plain) {
      call.Propagate(request);
    } else {
      call.PropagatePrivate(request);
    }
  }
}

void PropagateElementDeadlines(Call& call, std::string_view key) {
  if (!call.Propagates()) return;
  const Entry* entry = call.keys.all().Find(key);
  if (entry == nullptr || !entry->EarliestElementDeadline()) return;
  std::map<Millis, std::vector<std::string>> elements;
  const auto add = [&](std::string_view name, std::optional<Millis> deadline) {
    if (deadline) elements[*deadline].emplace_back(name);
  };
  if (const SortedSet* set = entry->GetIf<SortedSet>()) {
    for (auto at = set->At(0); at.valid(); at.Next()) add(at.member(), at.deadline());
  }
  if (const Hash* hash = entry->GetIf<Hash>()) {
    hash->ForEach([&](const Field& field) { add(field.name, hash->Deadline(field.name)); });
  }
  const ElementWords& words = entry->Holds<Hash>() ? kFieldWords : kMemberWords;
  for (const auto& [deadline, those] : elements) {
    PropagateElementDeadline(call, key, {those.begin(), those.end()}, deadline, words);
  }
}

void PropagateElementRemoval(Call& call, std::string_view key,
                             const std::vector<std::string_view>& elements,
                             const ElementWords& words) {
  PropagatedItems items(call, words.remove, key, elements.size());
  for (const std::string_view element : elements) items.Add({element});
}

}  // namespace zsetd
