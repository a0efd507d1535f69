#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/util/time.h"
#include "server/engine/call.h"

// The commands that give deadlines to elements of a value, to members of a sorted set as Redis's
// HEXPIRE and its companions give them to fields of a hash. Their checks, the order of these, and
// the replies are those of Redis 8.0:
//
//   HEXPIRE key seconds [NX|XX|GT|LT] FIELDS numfields field [field ...]
//   HTTL    key FIELDS numfields field [field ...]
namespace zsetd {

// The names of the commands of one type, their effects and events.
struct ElementWords {
  std::string_view keyword;  // before the elements: "MEMBERS"
  std::string_view unit;     // in errors: "members"
  std::string_view capitalized_unit;
  KeyEvent expire_event;
  KeyEvent persist_event;
  KeyEvent remove_event;
  std::string_view pexpireat;  // the requests that are propagated
  std::string_view persist;
  std::string_view remove;
  bool is_known_to_redis = false;  // Redis has had these requests since 7.4
};

inline constexpr ElementWords kMemberWords = {.keyword = "members",
                                              .unit = "members",
                                              .capitalized_unit = "Members",
                                              .expire_event = KeyEvent::kZExpire,
                                              .persist_event = KeyEvent::kZPersist,
                                              .remove_event = KeyEvent::kZRem,
                                              .pexpireat = "ZPEXPIREAT",
                                              .persist = "ZPERSIST",
                                              .remove = "ZREM"};

inline constexpr ElementWords kFieldWords = {.keyword = "fields",
                                             .unit = "fields",
                                             .capitalized_unit = "Fields",
                                             .expire_event = KeyEvent::kHExpire,
                                             .persist_event = KeyEvent::kHPersist,
                                             .remove_event = KeyEvent::kHDel,
                                             .pexpireat = "HPEXPIREAT",
                                             .persist = "HPERSIST",
                                             .remove = "HDEL",
                                             .is_known_to_redis = true};

// The origin and the unit of a time in a request.
struct ExpiryUnit {
  Millis origin{0};
  Millis unit{1};
};

// The deadline that `amount` of the unit is; an error, and anything, if it is not a number from 0
// on, or too far in the future.
Millis CheckedElementDeadline(Call& call, std::string_view amount, const ExpiryUnit& unit);

// The condition on an element's present deadline for a change; at most one of them.
enum class ElementCondition { kNone, kNx, kXx, kGt, kLt };

// Whether it allows another deadline. No deadline counts as later than any.
bool Allows(ElementCondition condition, std::optional<Millis> present, Millis deadline);

struct ElementExpireRequest {
  Millis deadline{0};
  ElementCondition condition = ElementCondition::kNone;
  Args elements;
};

// Takes the arguments after the key, up to the end.
ElementExpireRequest TakeElementExpireRequest(Call& call, const ExpiryUnit& unit,
                                              const ElementWords& words);

// Takes the keyword, the number of elements and the elements, up to the end; for those who only
// ask.
Args TakeElements(Call& call, const ElementWords& words);

// Takes the number of elements and then the elements, of `each` words, up to the end.
Args TakeCountedElements(ArgReader& args, const ElementWords& words, std::string_view bad_count,
                         size_t each = 1);

// Propagates deadlines that elements have got, or with nothing that they have lost theirs.
void PropagateElementDeadline(Call& call, std::string_view key,
                              const std::vector<std::string_view>& elements,
                              std::optional<Millis> deadline, const ElementWords& words);

// Propagates all deadlines that elements of the value at `key` have.
void PropagateElementDeadlines(Call& call, std::string_view key);

// Propagates that elements were removed.
void PropagateElementRemoval(Call& call, std::string_view key,
                             const std::vector<std::string_view>& elements,
                             const ElementWords& words);

// WRONGTYPE, if the key holds something else: before anything is read, as in Redis.
template <class T>
void CheckType(Call& call, std::string_view key) {
  const Entry* entry = call.keys.all().Find(key);
  if (entry != nullptr && !entry->Holds<T>()) call.args.Refuse(kWrongType);
}

// Whether elements with this deadline are deleted immediately.
inline bool HasPassed(Call& call, Millis deadline) { return deadline <= call.keys.due_until(); }

inline void ReplyMissing(Call& call, size_t elements) {
  call.reply.Array(elements);
  for (size_t i = 0; i < elements; ++i) call.reply.Integer(-2);
}

// Sets the deadline of one element, or removes the element if the deadline has passed. Returns the
// reply for it.
template <class T>
int64_t ExpireElement(T& value, std::string_view element, ElementCondition condition,
                      Millis deadline, bool has_passed) {
  if (!value.Contains(element)) return -2;
  if (!Allows(condition, value.Deadline(element), deadline)) return 0;
  if (has_passed) return value.Remove(element) ? 2 : -2;
  value.SetDeadline(element, deadline);
  return 1;
}

// Sets the deadline of elements: 1, or 2 if they were removed for it, 0 if the condition forbade
// it, -2 without such an element.
template <class T>
void ExpireElements(Call& call, const ExpiryUnit& unit, const ElementWords& words) {
  const std::string_view key = call.args.Word();
  CheckType<T>(call, key);
  const ElementExpireRequest request = TakeElementExpireRequest(call, unit, words);
  const bool has_passed = HasPassed(call, request.deadline);
  std::vector<std::string_view> changed;
  {
    Edit<T> value = call.Open<T>(key, has_passed ? words.remove_event : words.expire_event);
    if (call.Refused()) return;
    if (!value) return ReplyMissing(call, request.elements.size());
    call.reply.Array(request.elements.size());
    for (const std::string_view element : request.elements) {
      const int64_t done =
          ExpireElement(*value, element, request.condition, request.deadline, has_passed);
      if (done > 0) {
        changed.push_back(element);
        value.Note(element);
      }
      call.reply.Integer(done);
    }
  }
  if (has_passed) {
    PropagateElementRemoval(call, key, changed, words);
  } else {
    PropagateElementDeadline(call, key, changed, request.deadline, words);
  }
}

// Replies how far the deadlines of elements are from the origin; -1 without one, -2 without such an
// element.
template <class T>
void ReplyElementDeadlines(Call& call, const ExpiryUnit& unit, const ElementWords& words) {
  const std::string_view key = call.args.Word();
  const T* value = call.Find<T>(key);
  const Args elements = TakeElements(call, words);
  if (call.Refused()) return;
  if (value == nullptr) return ReplyMissing(call, elements.size());
  call.reply.Array(elements.size());
  for (const std::string_view element : elements) {
    if (!value->Contains(element)) {
      call.reply.Integer(-2);
      continue;
    }
    const std::optional<Millis> deadline = value->Deadline(element);
    const auto rounded_up = [&](Millis time) {
      return (time.count() + unit.unit.count() - 1) / unit.unit.count();
    };
    call.reply.Integer(deadline ? rounded_up(*deadline - unit.origin) : -1);
  }
}

// Removes the deadlines of elements: 1, -1 without one, -2 without such an element.
template <class T>
void PersistElements(Call& call, const ElementWords& words) {
  const std::string_view key = call.args.Word();
  CheckType<T>(call, key);
  const Args elements = TakeElements(call, words);
  std::vector<std::string_view> changed;
  {
    Edit<T> value = call.Open<T>(key, words.persist_event);
    if (call.Refused()) return;
    if (!value) return ReplyMissing(call, elements.size());
    call.reply.Array(elements.size());
    for (const std::string_view element : elements) {
      const bool persists = value->Deadline(element).has_value();
      if (persists) {
        value->SetDeadline(element, std::nullopt);
        changed.push_back(element);
        value.Note(element);
      }
      call.reply.Integer(persists ? 1 : value->Contains(element) ? -1 : -2);
    }
  }
  PropagateElementDeadline(call, key, changed, std::nullopt, words);
}

}  // namespace zsetd
