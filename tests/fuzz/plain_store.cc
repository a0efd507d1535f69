#include "tests/fuzz/plain_store.h"

#include <algorithm>
#include <charconv>

namespace zsetd {
namespace {

const std::string kNull = "$-1\r\n";
const std::string kWrongType =
    "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n";
const std::string kNotAnInteger = "-ERR value is not an integer or out of range\r\n";

std::string Integer(int64_t value) { return ":" + std::to_string(value) + "\r\n"; }

std::string Bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

using Element = std::pair<int64_t, std::string>;

std::vector<Element> InOrder(const std::map<std::string, int64_t>& scores) {
  std::vector<Element> elements;
  for (const auto& [member, score] : scores) elements.emplace_back(score, member);
  std::ranges::sort(elements);
  return elements;
}

std::string Listed(const std::vector<Element>& elements) {
  std::string reply = "*" + std::to_string(2 * elements.size()) + "\r\n";
  for (const auto& [score, member] : elements) reply += Bulk(member) + Bulk(std::to_string(score));
  return reply;
}

// As Redis would write it: no plus, no zeros in front, no minus before a zero.
bool IsNumber(const std::string& text) {
  int64_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  return end.ec == std::errc() && std::to_string(value) == text;
}

}  // namespace

PlainStore::Entry* PlainStore::Find(const std::string& key) {
  const auto at = entries_.find(key);
  if (at == entries_.end()) return nullptr;
  if (!at->second.deadline || *at->second.deadline > now_) return &at->second;
  entries_.erase(at);
  return nullptr;
}

std::string PlainStore::Answer(const Args& words) {
  Entry* const entry = Find(words[1]);
  const std::string& name = words[0];
  if (name == "SET") {
    entries_[words[1]] = {words[2], std::nullopt};
    return "+OK\r\n";
  }
  if (name[0] == 'Z') return AnswerScores(words, entry);
  if (name == "GET" || name == "APPEND" || name == "INCRBY") return AnswerString(words, entry);
  return AnswerKey(words);
}

std::string PlainStore::AnswerKey(const Args& words) {
  Entry* const entry = Find(words[1]);
  const std::string& name = words[0];
  if (name == "DEL") return Integer(entry == nullptr ? 0 : entries_.erase(words[1]));
  if (name == "EXISTS") return Integer(entry != nullptr);
  if (name == "TYPE")
    return entry == nullptr ? "+none\r\n" : entry->value.index() == 0 ? "+string\r\n" : "+zset\r\n";
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

std::string PlainStore::AnswerString(const Args& words, Entry* entry) {
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

std::string PlainStore::AnswerScores(const Args& words, Entry* entry) {
  if (entry != nullptr && entry->value.index() != 1) return kWrongType;
  const std::string& name = words[0];
  if (name == "ZADD") {
    if (entry == nullptr) entry = &(entries_[words[1]] = {Scores(), std::nullopt});
    return Add(words, std::get<Scores>(entry->value));
  }
  Scores none;
  Scores& scores = entry == nullptr ? none : std::get<Scores>(entry->value);
  const std::vector<Element> elements = InOrder(scores);
  if (name == "ZCARD") return Integer(scores.size());
  if (name == "ZRANGE") return Listed(elements);
  if (name == "ZPOPMIN") {
    if (elements.empty()) return "*0\r\n";
    scores.erase(elements[0].second);
    DropIfEmpty(words[1]);
    return Listed({elements[0]});
  }
  const auto at = scores.find(words[2]);
  if (name == "ZREM") {
    const bool there = at != scores.end();
    if (there) scores.erase(at);
    if (there) DropIfEmpty(words[1]);
    return Integer(there);
  }
  if (at == scores.end()) return kNull;
  if (name == "ZSCORE") return Bulk(std::to_string(at->second));
  return Integer(std::ranges::find(elements, Element(at->second, at->first)) - elements.begin());
}

// ZADD key NX|XX|GT|LT|CH score member
std::string PlainStore::Add(const Args& words, Scores& scores) {
  const std::string& option = words[2];
  const int64_t score = std::stoll(words[3]);
  const auto at = scores.find(words[4]);
  const bool is_new = at == scores.end();
  const bool refused = is_new ? option == "XX"
                              : option == "NX" || (option == "GT" && score <= at->second) ||
                                    (option == "LT" && score >= at->second);
  const bool changed = !refused && (is_new || at->second != score);
  if (!refused) scores[words[4]] = score;
  DropIfEmpty(words[1]);
  return Integer(option == "CH" ? changed : changed && is_new);
}

void PlainStore::DropIfEmpty(const std::string& key) {
  if (std::get<Scores>(entries_[key].value).empty()) entries_.erase(key);
}

}  // namespace zsetd
