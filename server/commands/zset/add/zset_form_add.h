#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/sorted_set/sorted_set.h"
#include "server/commands/zset/add/zset_add.h"
#include "server/engine/call.h"

namespace zsetd {

// Whether the request adds scores with a form (core/sorted_set/form/score_form.h).
inline bool IsFormed(const Edit<SortedSet>& set, const AddRequest& request) {
  return request.needs_form || (set && set->has_form());
}

// Whether the sorted set at `key` has a form. For requests that would be refused for doubles.
bool HasForm(Call& call, std::string_view key);

// The addition of pairs to a set whose scores have a form. The request was read as if its scores
// were doubles; this class reads their texts again.
class FormedAddition {
 public:
  // Both outlive it. The edit is empty if the key does not exist and the rule adds nothing.
  FormedAddition(Call& call, Edit<SortedSet>& set, const AddRequest& request)
      : call_(call), set_(set), request_(request) {}

  // Gives a new set its form, and reads the scores. Returns false if it replied an error; nothing
  // has been added then.
  bool Prepare();

  // Adds the pairs and replies. Returns the elements that the rule allowed, with their new scores.
  // An increment that overflows replies an error and changes nothing.
  std::vector<Element> Run();

 private:
  using Code = std::optional<uint64_t>;

  bool Fail(std::string_view line);
  bool TakeFormOfSet();
  bool ReadScores();
  const ScoreForm& form() const;
  Code CodeOfPair(size_t i) const;
  Code Present(std::string_view member) const;
  Code NewCode(size_t i, Code present) const;
  bool IsAllowed(Code present, uint64_t code) const;
  void ReplyIncrement(const std::vector<Element>& added);

  Call& call_;
  Edit<SortedSet>& set_;
  const AddRequest& request_;
  // For increments of integers `increment_`, otherwise the codes of the pairs.
  std::optional<int64_t> increment_;
  std::vector<uint64_t> codes_;
  Code expected_;  // IFEQ
};

// Performs ZADD or ZINCRBY on such a set: adds, replies, trims, sets the key's deadline and
// propagates.
void AddFormed(Call& call, std::string_view key, Edit<SortedSet>& set, const AddRequest& request);

}  // namespace zsetd
