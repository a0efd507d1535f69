#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/util/time.h"

namespace zsetd {

// Implements a few commands on strings, sorted sets and hashes, and their replies, as simply as
// possible: maps of values that are searched from end to end. Scores are integers. Those of keys
// that start with "decaying" have a half-life of kHalfLife; their replies are not modelled.
class PlainStore {
 public:
  using Args = std::vector<std::string>;
  static constexpr Millis kHalfLife{7'000};

  void AdvanceTo(Millis now) {
    if (now_ == Millis(0)) start_ = now;
    now_ = now;
  }

  // Returns the bytes of the reply to a supported request.
  std::string Answer(const Args& words);

 private:
  template <class T>
  struct Timed {
    T value{};
    std::optional<Millis> deadline;
    std::optional<std::string> payload;  // of a member of a sorted set
  };
  using Scores = std::map<std::string, Timed<int64_t>>;
  using Fields = std::map<std::string, Timed<std::string>>;
  using Text = std::string;
  struct Entry {
    std::variant<Text, Scores, Fields> value;
    std::optional<Millis> deadline;
  };
  using Element = std::pair<int64_t, std::string>;  // in the order of the sorted set

  int64_t ScoreOf(const Args& words, const std::string& text) const;
  Entry* Find(const std::string& key);
  void DropIfEmpty(const std::string& key);

  // Returns the elements at `key`; null if the key is missing or holds another type.
  template <class T>
  T* Get(const std::string& key);
  bool IsOther(const std::string& key, size_t type);  // whether it holds a value of another type

  std::string AnswerKey(const Args& words);
  std::string AnswerString(const Args& words);
  std::string AnswerScores(const Args& words);
  std::string AnswerRanks(const Args& words, const Scores& scores);
  std::string AnswerFields(const Args& words);

  // The commands on deadlines of elements, which sorted sets and hashes share. `name` omits the
  // first letter.
  template <class T>
  std::string AnswerDeadlines(const std::string& name, const Args& words);
  template <class T>
  std::string Expire(T* elements, const Args& words);

  static std::vector<Element> InOrder(const Scores& scores);
  static std::string Listed(const Args& words, const std::vector<Element>& elements,
                            const Scores& scores);
  std::string AnswerPayloads(const Args& words, Scores* scores);
  std::string Matching(const Args& words, const Scores& scores);
  std::string RankOf(const Args& words, const std::vector<Element>& elements);
  std::string Add(const Args& words);
  std::string AddEx(const Args& words);
  std::string Increment(const Args& words);
  std::string PopByScore(const Args& words);
  std::string MoveByScore(const Args& words);
  static std::vector<Element> Selected(const Scores& scores, const Args& range);
  std::string Move(const Args& words);
  std::string Around(const Args& words, const Scores& scores);
  std::string Union(const Args& words);
  std::string SetEx(const Args& words);
  std::string GetEx(const Args& words);
  std::string GetDel(const Args& words);

  std::map<std::string, Entry> entries_;
  Millis now_{0};
  Millis start_{0};
};

}  // namespace zsetd
