#include "tests/fuzz/plain_store.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/util/glob.h"

namespace zsetd {
namespace {

const std::string kNull = "$-1\r\n";
const std::string kWrongType =
    "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n";
const std::string kNotAnInteger = "-ERR value is not an integer or out of range\r\n";

enum Type : size_t { kText, kScores, kFields };

std::string Integer(int64_t value) { return ":" + std::to_string(value) + "\r\n"; }

std::string Bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

std::string Array(const std::vector<std::string>& replies) {
  std::string reply = "*" + std::to_string(replies.size()) + "\r\n";
  for (const std::string& each : replies) reply += each;
  return reply;
}

// Like Redis's own output: no plus, no leading zeros, no minus before a zero.
bool IsNumber(const std::string& text) {
  int64_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  return end.ec == std::errc() && std::to_string(value) == text;
}

using Args = PlainStore::Args;

bool Has(const Args& words, const std::string& option) {
  return std::ranges::count(words, option) > 0;
}

// Returns the word at that distance after the option.
std::string After(const Args& words, const std::string& option, size_t distance = 1) {
  return *(std::ranges::find(words, option) + static_cast<ptrdiff_t>(distance));
}

// Returns the elements that LIMIT selects.
std::vector<std::pair<int64_t, std::string>> Limited(
    const Args& words, std::vector<std::pair<int64_t, std::string>> elements) {
  if (!Has(words, "LIMIT")) return elements;
  const size_t offset = std::min<size_t>(std::stoull(After(words, "LIMIT")), elements.size());
  elements.erase(elements.begin(), elements.begin() + static_cast<ptrdiff_t>(offset));
  elements.resize(std::min<size_t>(elements.size(), std::stoull(After(words, "LIMIT", 2))));
  return elements;
}

// Returns the elements of a request: the words after MEMBERS or FIELDS and their number.
Args Named(const Args& words) {
  const auto keyword = std::ranges::find_if(
      words, [](const std::string& word) { return word == "MEMBERS" || word == "FIELDS"; });
  return {keyword + 2, words.end()};
}

}  // namespace

// Drops expired elements. A key is deleted with its last element.
PlainStore::Entry* PlainStore::Find(const std::string& key) {
  const auto at = entries_.find(key);
  if (at == entries_.end()) return nullptr;
  const auto is_due = [&](const auto& timed) { return timed.deadline && *timed.deadline <= now_; };
  const auto drop_due = [&](auto& elements) {
    std::erase_if(elements, [&](const auto& each) { return is_due(each.second); });
    return elements.empty();
  };
  Entry& entry = at->second;
  bool is_gone = is_due(entry);
  if (auto* scores = std::get_if<Scores>(&entry.value)) is_gone = drop_due(*scores) || is_gone;
  if (auto* fields = std::get_if<Fields>(&entry.value)) is_gone = drop_due(*fields) || is_gone;
  if (!is_gone) return &entry;
  entries_.erase(at);
  return nullptr;
}

template <class T>
T* PlainStore::Get(const std::string& key) {
  Entry* const entry = Find(key);
  return entry == nullptr ? nullptr : std::get_if<T>(&entry->value);
}

bool PlainStore::IsOther(const std::string& key, size_t type) {
  Entry* const entry = Find(key);
  return entry != nullptr && entry->value.index() != type;
}

std::string PlainStore::Answer(const Args& words) {
  const std::string& name = words[0];
  if (name == "SET") {
    entries_[words[1]] = {words[2], std::nullopt};
    return "+OK\r\n";
  }
  if (name == "ZUNION") return Union(words);
  if (name == "ZMOVE") return Move(words);
  if (name == "ZMOVEBYSCORE") return MoveByScore(words);
  if (name[0] == 'Z') return IsOther(words[1], kScores) ? kWrongType : AnswerScores(words);
  if (name[0] == 'H') return IsOther(words[1], kFields) ? kWrongType : AnswerFields(words);
  if (name == "GET" || name == "APPEND" || name == "INCRBY") return AnswerString(words);
  return AnswerKey(words);
}

std::string PlainStore::AnswerKey(const Args& words) {
  Entry* const entry = Find(words[1]);
  const std::string& name = words[0];
  if (name == "DEL") return Integer(entry == nullptr ? 0 : entries_.erase(words[1]));
  if (name == "EXISTS") return Integer(entry != nullptr);
  if (name == "TYPE") {
    constexpr const char* kNames[] = {"+string\r\n", "+zset\r\n", "+hash\r\n"};
    return entry == nullptr ? "+none\r\n" : kNames[entry->value.index()];
  }
  if (name == "PTTL") {
    return Integer(entry == nullptr  ? -2
                   : entry->deadline ? (*entry->deadline - now_).count()
                                     : -1);
  }
  if (name == "PERSIST") {
    const bool had = entry != nullptr && entry->deadline;
    if (had) entry->deadline.reset();
    return Integer(had);
  }
  if (name == "PEXPIRE") {
    if (entry == nullptr) return Integer(0);
    entry->deadline = now_ + Millis(std::stoll(words[2]));
    return Integer(1);
  }
  // RENAME
  if (entry == nullptr) return "-ERR no such key\r\n";
  Entry moved = *entry;
  entries_.erase(words[1]);
  entries_[words[2]] = std::move(moved);
  return "+OK\r\n";
}

std::string PlainStore::AnswerString(const Args& words) {
  Entry* const entry = Find(words[1]);
  const bool is_new = entry == nullptr;
  if (!is_new && entry->value.index() != 0) return kWrongType;
  if (words[0] == "GET") return is_new ? kNull : Bulk(std::get<std::string>(entry->value));
  std::string text = is_new ? "" : std::get<std::string>(entry->value);
  if (words[0] == "APPEND") {
    text += words[2];
  } else {
    if (!is_new && !IsNumber(text)) return kNotAnInteger;
    text = std::to_string((is_new ? 0 : std::stoll(text)) + std::stoll(words[2]));
  }
  entries_[words[1]].value = text;
  return Integer(words[0] == "APPEND" ? text.size() : std::stoll(text));
}

// Called after elements were removed, or if no element was added to a new value.
void PlainStore::DropIfEmpty(const std::string& key) {
  const auto at = entries_.find(key);
  if (at == entries_.end()) return;
  const auto* scores = std::get_if<Scores>(&at->second.value);
  const auto* fields = std::get_if<Fields>(&at->second.value);
  if ((scores != nullptr && scores->empty()) || (fields != nullptr && fields->empty())) {
    entries_.erase(at);
  }
}

// --- Deadlines of elements ---

template <class T>
std::string PlainStore::AnswerDeadlines(const std::string& name, const Args& words) {
  T* const elements = Get<T>(words[1]);
  if (name == "PEXPIRE") return Expire(elements, words);
  std::vector<std::string> replies;
  for (const std::string& element : Named(words)) {
    if (elements == nullptr || !elements->contains(element)) {
      replies.push_back(Integer(-2));
      continue;
    }
    std::optional<Millis>& deadline = elements->at(element).deadline;
    if (!deadline) {
      replies.push_back(Integer(-1));
    } else if (name == "PTTL") {
      replies.push_back(Integer((*deadline - now_).count()));
    } else if (name == "TTL") {
      replies.push_back(Integer(((*deadline - now_).count() + 999) / 1000));
    } else if (name == "PEXPIRETIME") {
      replies.push_back(Integer(deadline->count()));
    } else {  // PERSIST
      deadline.reset();
      replies.push_back(Integer(1));
    }
  }
  return Array(replies);
}

// ZPEXPIRE key milliseconds [NX|XX|GT|LT] MEMBERS count member [member ...]
template <class T>
std::string PlainStore::Expire(T* elements, const Args& words) {
  const Millis deadline = now_ + Millis(std::stoll(words[2]));
  const std::string& condition = words[3];
  std::vector<std::string> replies;
  for (const std::string& element : Named(words)) {
    if (elements == nullptr || !elements->contains(element)) {
      replies.push_back(Integer(-2));
      continue;
    }
    std::optional<Millis>& present = elements->at(element).deadline;
    const bool allowed = condition == "NX"   ? !present
                         : condition == "XX" ? present.has_value()
                         : condition == "GT" ? present && *present < deadline
                         : condition == "LT" ? !present || *present > deadline
                                             : true;
    const bool is_past = deadline <= now_;
    if (allowed && is_past) {
      elements->erase(element);
    } else if (allowed) {
      present = deadline;
    }
    replies.push_back(Integer(!allowed ? 0 : is_past ? 2 : 1));
  }
  DropIfEmpty(words[1]);
  return Array(replies);
}

// --- Sorted sets ---

std::vector<PlainStore::Element> PlainStore::InOrder(const Scores& scores) {
  std::vector<Element> elements;
  for (const auto& [member, score] : scores) elements.emplace_back(score.value, member);
  std::ranges::sort(elements);
  return elements;
}

// The reply with scores, and with payloads if the request has WITHDATA.
std::string PlainStore::Listed(const Args& words, const std::vector<Element>& elements,
                               const Scores& scores) {
  std::vector<std::string> replies;
  for (const auto& [score, member] : elements) {
    replies.push_back(Bulk(member));
    replies.push_back(Bulk(std::to_string(score)));
    if (!Has(words, "WITHDATA")) continue;
    const std::optional<std::string>& payload = scores.at(member).payload;
    replies.push_back(payload ? Bulk(*payload) : kNull);
  }
  return Array(replies);
}

// ZSETDATA key member payload, ZGETDATA key member and ZDELDATA key member
std::string PlainStore::AnswerPayloads(const Args& words, Scores* scores) {
  const bool exists = scores != nullptr && scores->contains(words[2]);
  std::optional<std::string> none;
  std::optional<std::string>& payload = exists ? scores->at(words[2]).payload : none;
  if (words[0] == "ZGETDATA") return Array({payload ? Bulk(*payload) : kNull});
  if (words[0] == "ZDELDATA") return Integer(std::exchange(payload, std::nullopt).has_value());
  payload = words[3];
  return Integer(exists);
}

std::string PlainStore::AnswerScores(const Args& words) {
  const std::string& name = words[0];
  if (name == "ZADD") return Add(words);
  if (name == "ZADDEX") return AddEx(words);
  if (name == "ZINCRBY") return Increment(words);
  if (name == "ZPOPBYSCORE") return PopByScore(words);
  if (Has(words, "MEMBERS")) return AnswerDeadlines<Scores>(name.substr(1), words);
  Scores* const scores = Get<Scores>(words[1]);
  if (name.ends_with("DATA")) return AnswerPayloads(words, scores);
  if (name == "ZPOPMIN") {
    if (scores == nullptr) return "*0\r\n";
    const Element first = InOrder(*scores)[0];
    const std::string reply = Listed(words, {first}, *scores);
    scores->erase(first.second);
    DropIfEmpty(words[1]);
    return reply;
  }
  if (name == "ZREM") {
    const size_t removed = scores == nullptr ? 0 : scores->erase(words[2]);
    DropIfEmpty(words[1]);
    return Integer(static_cast<int64_t>(removed));
  }
  return AnswerRanks(words, scores == nullptr ? Scores() : *scores);
}

// Commands that change nothing.
std::string PlainStore::AnswerRanks(const Args& words, const Scores& scores) {
  const std::string& name = words[0];
  const std::vector<Element> elements = InOrder(scores);
  if (name == "ZCARD") return Integer(static_cast<int64_t>(scores.size()));
  if (name == "ZRANGE" && Has(words, "MATCH")) return Matching(words, scores);
  if (name == "ZRANGE") return Listed(words, elements, scores);
  if (name == "ZRANKOF") return RankOf(words, elements);
  if (name == "ZAROUND") return Around(words, scores);
  const bool is_reverse = name.find("REV") != std::string::npos;
  const auto rank = [&](const std::string& member) {
    if (!scores.contains(member)) return kNull;
    const int64_t score = scores.at(member).value;
    const auto is_before = [&](const Element& other) {
      if (Has(words, "TIES")) return is_reverse ? other.first > score : other.first < score;
      const Element own(score, member);
      return is_reverse ? other > own : other < own;
    };
    return Integer(std::ranges::count_if(elements, is_before));
  };
  if (name == "ZSCORE") {
    return scores.contains(words[2]) ? Bulk(std::to_string(scores.at(words[2]).value)) : kNull;
  }
  if (!name.starts_with("ZM")) return rank(words[2]);
  std::vector<std::string> ranks;
  for (size_t i = 2; i < words.size(); ++i) ranks.push_back(rank(words[i]));
  return Array(ranks);
}

// ZRANGE key 0 -1 MATCH pattern [REV] [LIMIT offset count] WITHSCORES [WITHDATA]
std::string PlainStore::Matching(const Args& words, const Scores& scores) {
  std::vector<Element> elements = InOrder(scores);
  if (Has(words, "REV")) std::ranges::reverse(elements);
  std::erase_if(elements, [&](const Element& each) { return !GlobMatches(words[5], each.second); });
  return Listed(words, Limited(words, std::move(elements)), scores);
}

// ZRANKOF key score [member] [REV]
std::string PlainStore::RankOf(const Args& words, const std::vector<Element>& elements) {
  const bool is_reverse = words.back() == "REV";
  const bool has_member = words.size() > (is_reverse ? 4u : 3u);
  const Element own(ScoreOf(words, words[2]), has_member ? words[3] : "");
  return Integer(std::ranges::count_if(elements, [&](const Element& other) {
    if (!has_member) return is_reverse ? other.first > own.first : other.first < own.first;
    if (other.second == own.second) return false;
    return is_reverse ? other > own : other < own;
  }));
}

// A score that decays is projected to the start: later ones are greater.
int64_t PlainStore::ScoreOf(const Args& words, const std::string& text) const {
  if (!words[1].starts_with("decaying")) return std::stoll(text);
  const double half_lives = std::chrono::duration<double>(now_ - start_) / kHalfLife;
  return std::llround(std::stod(text) * std::exp2(half_lives + 20));
}

// ZADD key NX|XX|GT|LT|CH|GET score member, or
// ZADD key IFEQ score score member, or
// ZADD key MAXLEN count KEEP HIGHEST|LOWEST score member
std::string PlainStore::Add(const Args& words) {
  const std::string& option = words[2];
  const std::string& member = words.back();
  const int64_t score = ScoreOf(words, words[words.size() - 2]);
  auto& scores =
      std::get<Scores>(entries_.try_emplace(words[1], Entry{Scores(), {}}).first->second.value);
  const auto at = scores.find(member);
  const bool is_new = at == scores.end();
  const bool is_comparing = option == "IFEQ";
  const std::optional<int64_t> old =
      is_new ? std::nullopt : std::optional<int64_t>(at->second.value);
  const bool refused = is_new ? option == "XX" || is_comparing
                              : option == "NX" || (is_comparing && *old != std::stoll(words[3])) ||
                                    (option == "GT" && score <= at->second.value) ||
                                    (option == "LT" && score >= at->second.value);
  const bool changed = !refused && (is_new || at->second.value != score);
  if (!refused) scores[member] = {score, std::nullopt, is_new ? std::nullopt : at->second.payload};
  if (option == "MAXLEN") {
    while (scores.size() > std::stoull(words[3])) {
      const std::vector<Element> elements = InOrder(scores);
      scores.erase(Has(words, "LOWEST") ? elements.back().second : elements.front().second);
    }
  }
  DropIfEmpty(words[1]);
  if (option == "GET") return Array({old ? Bulk(std::to_string(*old)) : kNull});
  return Integer(option == "CH" ? changed : changed && is_new);
}

// ZADDEX key [NX|XX|GT|LT|CH|INCR] [PX milliseconds|PXAT time|KEEPTTL] MEMBERS count score member
// ...
std::string PlainStore::AddEx(const Args& words) {
  auto& scores =
      std::get<Scores>(entries_.try_emplace(words[1], Entry{Scores(), {}}).first->second.value);
  const Args named = Named(words);
  const bool increments = Has(words, "INCR");
  std::vector<std::string> set;
  int64_t counted = 0;
  int64_t sum = 0;
  for (size_t i = 0; i < named.size(); i += 2) {
    const int64_t score = std::stoll(named[i]);
    const auto at = scores.find(named[i + 1]);
    const bool is_new = at == scores.end();
    if (is_new ? Has(words, "XX")
               : Has(words, "NX") || (Has(words, "GT") && score <= at->second.value) ||
                     (Has(words, "LT") && score >= at->second.value)) {
      continue;
    }
    counted += is_new || (Has(words, "CH") && at->second.value != score);
    Timed<int64_t>& element = scores[named[i + 1]];
    element.value = sum = increments ? element.value + score : score;
    if (!Has(words, "KEEPTTL") && !increments) element.deadline.reset();
    set.push_back(named[i + 1]);
  }
  for (const std::string& member : set) {
    if (Has(words, "PX")) scores[member].deadline = now_ + Millis(std::stoll(After(words, "PX")));
    if (Has(words, "PXAT")) scores[member].deadline = Millis(std::stoll(After(words, "PXAT")));
  }
  Find(words[1]);  // removes elements whose deadline is in the past
  DropIfEmpty(words[1]);
  return increments ? Bulk(std::to_string(sum)) : Integer(counted);
}

std::string PlainStore::Increment(const Args& words) {
  auto& scores =
      std::get<Scores>(entries_.try_emplace(words[1], Entry{Scores(), {}}).first->second.value);
  int64_t& score = scores[words[3]].value;
  score += std::stoll(words[2]);
  return Bulk(std::to_string(score));
}

// Returns the elements that `min max [REV] [COUNT count]` pops.
std::vector<PlainStore::Element> PlainStore::Selected(const Scores& scores, const Args& range) {
  std::vector<Element> found;
  for (const Element& element : InOrder(scores)) {
    const bool is_within =
        element.first >= std::stoll(range[0]) && element.first <= std::stoll(range[1]);
    if (is_within) found.push_back(element);
  }
  if (Has(range, "REV")) std::ranges::reverse(found);
  const size_t count = Has(range, "COUNT") ? std::stoull(After(range, "COUNT")) : 1;
  found.resize(std::min(found.size(), count));
  return found;
}

// ZPOPBYSCORE key min max [REV] [COUNT count] [WITHDATA]
std::string PlainStore::PopByScore(const Args& words) {
  Scores* const scores = Get<Scores>(words[1]);
  if (scores == nullptr) return "*0\r\n";
  const std::vector<Element> found = Selected(*scores, {words.begin() + 2, words.end()});
  const std::string reply = Listed(words, found, *scores);
  for (const Element& element : found) scores->erase(element.second);
  DropIfEmpty(words[1]);
  return reply;
}

// ZMOVEBYSCORE source destination min max [REV] [COUNT count] [SCORE score] [WITHDATA]
std::string PlainStore::MoveByScore(const Args& words) {
  const std::string& source = words[1];
  const std::string& destination = words[2];
  if (IsOther(source, kScores)) return kWrongType;
  Scores* const from = Get<Scores>(source);
  if (from == nullptr) return "*0\r\n";
  const std::vector<Element> found = Selected(*from, {words.begin() + 3, words.end()});
  if (found.empty()) return "*0\r\n";
  if (IsOther(destination, kScores)) return kWrongType;
  const std::string reply = Listed(words, found, *from);
  Entry& to = entries_.try_emplace(destination, Entry{Scores(), {}}).first->second;
  for (const auto& [score, member] : found) {
    Timed<int64_t> element = from->at(member);
    if (Has(words, "SCORE")) element.value = std::stoll(After(words, "SCORE"));
    from->erase(member);
    std::get<Scores>(to.value)[member] = element;
  }
  DropIfEmpty(source);
  return reply;
}

// ZMOVE source destination member [member ...]
std::string PlainStore::Move(const Args& words) {
  const std::string& source = words[1];
  const std::string& destination = words[2];
  if (IsOther(source, kScores)) return kWrongType;
  Scores* const from = Get<Scores>(source);
  if (from == nullptr) return Integer(0);
  if (IsOther(destination, kScores)) return kWrongType;
  int64_t moved = 0;
  for (size_t i = 3; i < words.size(); ++i) {
    const auto at = from->find(words[i]);
    if (at == from->end()) continue;
    ++moved;
    if (source == destination) continue;
    Entry& to = entries_.try_emplace(destination, Entry{Scores(), {}}).first->second;
    std::get<Scores>(to.value)[words[i]] = at->second;
    from->erase(at);
  }
  DropIfEmpty(source);
  return Integer(moved);
}

// ZAROUND key member before after [REV] WITHSCORES [WITHDATA]
std::string PlainStore::Around(const Args& words, const Scores& scores) {
  std::vector<Element> elements = InOrder(scores);
  if (Has(words, "REV")) std::ranges::reverse(elements);
  const auto at = std::ranges::find(elements, words[2], &Element::second);
  if (at == elements.end()) return "*-1\r\n";
  const auto before = std::min<int64_t>(at - elements.begin(), std::stoll(words[3]));
  const auto after = std::min<int64_t>(elements.end() - at - 1, std::stoll(words[4]));
  return Array({Integer(at - elements.begin()),
                Listed(words, std::vector<Element>(at - before, at + 1 + after), scores)});
}

// ZUNION 2 key key [REV] [LIMIT offset count] [BYSCORE min max] WITHSCORES
std::string PlainStore::Union(const Args& words) {
  Scores sum;
  for (const std::string& key : {words[2], words[3]}) {
    if (IsOther(key, kScores)) return kWrongType;
    const Scores* const scores = Get<Scores>(key);
    if (scores == nullptr) continue;
    for (const auto& [member, score] : *scores) sum[member].value += score.value;
  }
  std::vector<Element> elements = InOrder(sum);
  if (Has(words, "BYSCORE")) {
    const int64_t least = std::stoll(After(words, "BYSCORE"));
    const int64_t most = std::stoll(After(words, "BYSCORE", 2));
    std::erase_if(elements, [&](const Element& element) {
      return element.first < least || element.first > most;
    });
  }
  if (Has(words, "REV")) std::ranges::reverse(elements);
  return Listed(words, Limited(words, std::move(elements)), sum);
}

// --- Hashes ---

std::string PlainStore::AnswerFields(const Args& words) {
  const std::string& name = words[0];
  if (name == "HSETEX") return SetEx(words);
  if (name == "HGETEX") return GetEx(words);
  if (name == "HGETDEL") return GetDel(words);
  if (Has(words, "FIELDS")) return AnswerDeadlines<Fields>(name.substr(1), words);
  if (name == "HSET") {
    Entry& entry = entries_.try_emplace(words[1], Entry{Fields(), {}}).first->second;
    auto& fields = std::get<Fields>(entry.value);
    const bool is_new = !fields.contains(words[2]);
    fields[words[2]] = {words[3], std::nullopt};
    return Integer(is_new);
  }
  Fields* const fields = Get<Fields>(words[1]);
  if (name == "HLEN") return Integer(fields == nullptr ? 0 : static_cast<int64_t>(fields->size()));
  const bool exists = fields != nullptr && fields->contains(words[2]);
  if (name == "HGET") return exists ? Bulk(fields->at(words[2]).value) : kNull;
  // HDEL
  if (exists) fields->erase(words[2]);
  DropIfEmpty(words[1]);
  return Integer(exists);
}

// HSETEX key [FNX|FXX] [PX milliseconds|PXAT time|KEEPTTL] FIELDS count field value ...
std::string PlainStore::SetEx(const Args& words) {
  auto& fields =
      std::get<Fields>(entries_.try_emplace(words[1], Entry{Fields(), {}}).first->second.value);
  const Args named = Named(words);
  size_t found = 0;
  for (size_t i = 0; i < named.size(); i += 2) found += fields.contains(named[i]);
  const bool refused =
      (Has(words, "FNX") && found > 0) || (Has(words, "FXX") && found < named.size() / 2);
  for (size_t i = 0; !refused && i < named.size(); i += 2) {
    Timed<std::string>& field = fields[named[i]];
    field.value = named[i + 1];
    if (!Has(words, "KEEPTTL")) field.deadline.reset();
    if (Has(words, "PX")) field.deadline = now_ + Millis(std::stoll(After(words, "PX")));
    if (Has(words, "PXAT")) field.deadline = Millis(std::stoll(After(words, "PXAT")));
  }
  Find(words[1]);  // removes elements whose deadline is in the past
  DropIfEmpty(words[1]);
  return Integer(!refused);
}

// HGETEX key [PX milliseconds|PXAT time|PERSIST] FIELDS count field ...
std::string PlainStore::GetEx(const Args& words) {
  Fields* const fields = Get<Fields>(words[1]);
  std::vector<std::string> values;
  for (const std::string& name : Named(words)) {
    const bool exists = fields != nullptr && fields->contains(name);
    values.push_back(exists ? Bulk(fields->at(name).value) : kNull);
    if (!exists) continue;
    std::optional<Millis>& deadline = fields->at(name).deadline;
    if (Has(words, "PERSIST")) deadline.reset();
    if (Has(words, "PX")) deadline = now_ + Millis(std::stoll(After(words, "PX")));
    if (Has(words, "PXAT")) fields->erase(name);  // it is in the past
  }
  DropIfEmpty(words[1]);
  return Array(values);
}

// HGETDEL key FIELDS count field ...
std::string PlainStore::GetDel(const Args& words) {
  Fields* const fields = Get<Fields>(words[1]);
  std::vector<std::string> values;
  for (const std::string& name : Named(words)) {
    const bool exists = fields != nullptr && fields->contains(name);
    values.push_back(exists ? Bulk(fields->at(name).value) : kNull);
    if (exists) fields->erase(name);
  }
  DropIfEmpty(words[1]);
  return Array(values);
}

}  // namespace zsetd
