#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_set.h"
#include "core/hashing/keyed_hash.h"
#include "core/sorted_set/sorted_set.h"

namespace zsetd::bench {

// Two sorted sets with the same interface, for the benchmarks. `visit` takes (member, score).

class Ours {
 public:
  static constexpr const char* kName = "zsetd";

  size_t size() const { return set_.size(); }
  void Set(std::string_view member, double score) { set_.Set(member, score); }
  std::optional<double> Score(std::string_view member) const { return set_.Score(member); }
  std::optional<size_t> Rank(std::string_view member) const { return set_.Rank(member); }
  bool Remove(std::string_view member) { return set_.Remove(member); }
  void PopMin() { set_.Remove(RankRange{0, 1}); }
  template <class Visit>
  void FromRank(size_t rank, size_t count, Visit visit) const {
    for (auto at = set_.At(rank); at.valid() && count-- > 0; at.Next()) {
      const Element element = at.element();
      visit(element.member, element.score);
    }
  }
  template <class Visit>
  void FromScore(double score, size_t count, Visit visit) const {
    FromRank(set_.Ranks(ScoreRange{{score, false}, {1e308, false}}).first, count, visit);
  }
  SortedSet& set() { return set_; }

 private:
  SortedSet set_;
};

// abseil's containers: fast, but without ranks, and the hash table is rehashed in one step.
class Abseil {
 public:
  static constexpr const char* kName = "absl btree + hash";

  size_t size() const { return hash_.size(); }
  void Set(std::string_view member, double score) {
    if (const auto found = hash_.find(member); found != hash_.end()) {
      tree_.erase({(*found)->score, *found});
      (*found)->score = score;
      tree_.insert({score, *found});
      return;
    }
    Held* held = new Held{score, std::string(member)};
    hash_.insert(held);
    tree_.insert({score, held});
  }
  std::optional<double> Score(std::string_view member) const {
    const auto found = hash_.find(member);
    return found == hash_.end() ? std::nullopt : std::optional((*found)->score);
  }
  bool Remove(std::string_view member) {
    const auto found = hash_.find(member);
    if (found == hash_.end()) return false;
    Held* held = *found;
    tree_.erase({held->score, held});
    hash_.erase(found);
    delete held;
    return true;
  }
  void PopMin() {
    const std::string member = tree_.begin()->second->member;
    Remove(member);
  }
  template <class Visit>
  void FromScore(double score, size_t count, Visit visit) const {
    for (auto at = tree_.lower_bound({score, nullptr}); at != tree_.end() && count-- > 0; ++at) {
      visit(at->second->member, at->first);
    }
  }
  ~Abseil() {
    for (Held* held : hash_) delete held;
  }

 private:
  struct Held {
    double score;
    std::string member;
  };
  struct Before {
    static std::string_view MemberOf(const Held* held) {
      return held ? std::string_view(held->member) : std::string_view();
    }
    bool operator()(const std::pair<double, Held*>& a, const std::pair<double, Held*>& b) const {
      return a.first < b.first || (a.first == b.first && MemberOf(a.second) < MemberOf(b.second));
    }
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view member) const { return KeyedHash(member); }
    size_t operator()(const Held* held) const { return KeyedHash(held->member); }
  };
  struct Equal {
    using is_transparent = void;
    static std::string_view View(std::string_view member) { return member; }
    static std::string_view View(const Held* held) { return held->member; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return View(a) == View(b);
    }
  };

  absl::btree_set<std::pair<double, Held*>, Before> tree_;
  absl::flat_hash_set<Held*, Hash, Equal> hash_;
};

}  // namespace zsetd::bench
