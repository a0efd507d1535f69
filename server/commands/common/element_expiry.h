#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/util/time.h"
#include "server/commands/common/expiry_option.h"
#include "server/engine/call.h"

// Commands that set deadlines of elements: of fields of a hash, like Redis's HEXPIRE and similar
// commands, and of members of a sorted set. The checks, their order, and the replies are those of
// Redis 8.0:
//
//   HEXPIRE key seconds [NX|XX|GT|LT] FIELDS numfields field [field ...]
//   HTTL    key FIELDS numfields field [field ...]
namespace zsetd {

// The words, commands and events of one type of value.
struct ElementWords {
  std::string_view keyword;  // precedes the elements, "MEMBERS"
  std::string_view unit;     // in errors, "members"
  std::string_view capitalized_unit;
  KeyEvent expire_event;
  KeyEvent persist_event;
  KeyEvent remove_event;
  std::string_view pexpireat;  // the commands that are propagated
  std::string_view persist;
  std::string_view remove;
  bool is_known_to_redis = false;  // Redis has had these commands since 7.4
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

// Returns the deadline that is `amount` units after the origin. Refuses an amount that is not a
// number, is negative, or is too far in the future; the result then has no meaning.
Millis CheckedElementDeadline(Call& call, std::string_view amount, const ExpiryUnit& unit);

// The least time that is not an error. Redis's commands for hashes take a time of 0, which deletes
// fields immediately.
enum class LeastTime { kZero, kOne };

// Takes EX, PX, EXAT or PXAT with its time. Returns nullopt if the next argument is another word.
std::optional<Millis> TakeElementDeadline(Call& call, LeastTime least = LeastTime::kZero);

// Like `TakeElementDeadline()`, but stores the deadline, and takes KEEPTTL as well. Refuses a
// second option of the five. Returns false if the next argument is another word.
bool TakeElementDeadlineOption(Call& call, std::optional<Millis>& deadline, bool& keeps,
                               LeastTime least = LeastTime::kZero);

// A condition on the current deadline of an element.
enum class ElementCondition { kNone, kNx, kXx, kGt, kLt };

// Whether the condition allows the new deadline. An element without a deadline counts as having the
// latest one.
bool Allows(ElementCondition condition, std::optional<Millis> present, Millis deadline);

struct ElementExpireRequest {
  Millis deadline{0};
  ElementCondition condition = ElementCondition::kNone;
  Args elements;
};

// Takes all arguments after the key.
ElementExpireRequest TakeElementExpireRequest(Call& call, const ExpiryUnit& unit,
                                              const ElementWords& words);

// Takes the keyword, the number of elements and the elements, which must be the last arguments.
Args TakeElements(Call& call, const ElementWords& words);

// Takes the number of elements and the elements, of `each` words, which must be the last arguments.
Args TakeCountedElements(ArgReader& args, const ElementWords& words, std::string_view bad_count,
                         size_t each = 1);

// Propagates the new deadline of elements; nullopt means that their deadlines were removed.
void PropagateElementDeadline(Call& call, std::string_view key,
                              const std::vector<std::string_view>& elements,
                              std::optional<Millis> deadline, const ElementWords& words);

// Propagates the deadlines of all elements of the value at `key`.
void PropagateElementDeadlines(Call& call, std::string_view key);

// Propagates the removal of elements.
void PropagateElementRemoval(Call& call, std::string_view key,
                             const std::vector<std::string_view>& elements,
                             const ElementWords& words);

// Refuses the call with WRONGTYPE if the key holds another type. As in Redis, this precedes the
// parsing of arguments.
template <class T>
void CheckType(Call& call, std::string_view key) {
  const Entry* entry = call.keys.all().Find(key);
  if (entry != nullptr && !entry->Holds<T>()) call.args.Refuse(kWrongType);
}

// Whether the deadline has passed, so that elements are deleted immediately.
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

// Sets the deadline of elements. The reply for each is 1, or 2 if the element was removed because
// the deadline has passed. It is 0 if the condition does not allow the change, and -2 if the
// element does not exist.
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
        value.RecordSubkey(element);
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

// Replies the time from the origin to the deadline of each element; -1 without a deadline, -2 if
// the element does not exist. On a replica a deadline may have passed; the time is then 0.
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
      return (std::max(time, Millis(0)).count() + unit.unit.count() - 1) / unit.unit.count();
    };
    call.reply.Integer(deadline ? rounded_up(*deadline - unit.origin) : -1);
  }
}

// Removes the deadlines of elements. The reply for each is 1, -1 without a deadline, or -2 if the
// element does not exist.
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
        value.RecordSubkey(element);
      }
      call.reply.Integer(persists ? 1 : value->Contains(element) ? -1 : -2);
    }
  }
  PropagateElementDeadline(call, key, changed, std::nullopt, words);
}

}  // namespace zsetd
