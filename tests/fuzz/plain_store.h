#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/util/time.h"

namespace zsetd {

// What a few commands do to strings and sorted sets, and what they answer, written down as plainly
// as can be: a map of values, looked through from end to end. Scores are integers.
class PlainStore {
 public:
  using Args = std::vector<std::string>;

  void AdvanceTo(Millis now) { now_ = now; }

  // The bytes of the reply to a request that is known here.
  std::string Answer(const Args& words);

 private:
  using Scores = std::map<std::string, int64_t>;
  struct Entry {
    std::variant<std::string, Scores> value;
    std::optional<Millis> deadline;
  };

  Entry* Find(const std::string& key);
  std::string AnswerKey(const Args& words);
  std::string AnswerString(const Args& words, Entry* entry);
  std::string AnswerScores(const Args& words, Entry* entry);
  std::string Add(const Args& words, Scores& scores);
  void DropIfEmpty(const std::string& key);

  std::map<std::string, Entry> entries_;
  Millis now_{0};
};

}  // namespace zsetd
