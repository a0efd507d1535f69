// Measures the time of queries.

#include <string>
#include <type_traits>

#include "bench/sorted_set/sorted_set_bench.h"
#include "bench/sorted_set/workload.h"
#include "bench/sorted_set/yardsticks.h"
#include "core/hashing/keyed_hash.h"

namespace zsetd::bench {
namespace {

template <class Set>
void ScoreHit(benchmark::State& state) {
  Query<Set>(state, [](Set& set, Workload& workload, size_t n) {
    return *set.Score(workload.Member(n)) < 0.5;
  });
}

// Looks up sixteen members that are known in advance, like those of a pipeline. Their loads
// overlap.
void ScoreHitsAhead(benchmark::State& state) {
  constexpr size_t kAhead = 16;
  Ours& set = Filled<Ours>(state.range(0));
  Workload workload = RandomWorkload();
  uint64_t n = 0, hashes[kAhead];
  std::string members[kAhead];
  while (state.KeepRunningBatch(kAhead)) {
    for (size_t i = 0; i < kAhead; ++i) {
      members[i] = workload.Member(Mix(n + i) % set.size());
      hashes[i] = KeyedHash(members[i]);
    }
    for (const auto step : {PrefetchStep::kIndex, PrefetchStep::kBlock, PrefetchStep::kElement}) {
      for (const uint64_t hash : hashes) set.set().Prefetch(hash, step);
    }
    for (const std::string& member : members) n += 1 + (*set.Score(member) < 0.5 ? 1 : 0);
  }
}

template <class Set>
void ScoreMiss(benchmark::State& state) {
  Query<Set>(state, [](Set& set, Workload& workload, size_t n) {
    return set.Score(workload.Member(~n)).has_value();
  });
}

template <class Set>
void Rank(benchmark::State& state) {
  Query<Set>(state,
             [](Set& set, Workload& workload, size_t n) { return *set.Rank(workload.Member(n)); });
}

template <class Set>
void TenByRank(benchmark::State& state) {
  Query<Set>(state, [](Set& set, Workload&, size_t n) {
    size_t sum = 0;
    set.FromRank(n, 10, [&](auto member, double) { sum += member[0]; });
    return sum;
  });
}

template <class Set>
void HundredByScore(benchmark::State& state) {
  Query<Set>(state, [](Set& set, Workload& workload, size_t n) {
    size_t sum = 0;
    set.FromScore(workload.Score(~n), 100, [&](auto member, double) { sum += member[0]; });
    return sum;
  });
}

template <class Set>
void Walk(benchmark::State& state) {
  Set& set = Filled<Set>(state.range(0));
  for (auto _ : state) {
    const double start = NowNanos();
    set.FromScore(-1, set.size(),
                  [](auto member, double) { benchmark::DoNotOptimize(member.data()[0]); });
    const double nanos = NowNanos() - start;
    state.SetIterationTime(nanos / 1e9);
    state.counters["ns"] = nanos / double(set.size());
  }
}

}  // namespace

template <class Set>
void RegisterQueries(int64_t size) {
  RegisterOften<Set>("ScoreHit", size, ScoreHit<Set>);
  RegisterOften<Set>("ScoreMiss", size, ScoreMiss<Set>);
  RegisterOften<Set>("HundredByScore", size, HundredByScore<Set>);
  RegisterOnce<Set>("Walk", size, Walk<Set>);
  if constexpr (requires(Set set) { set.Rank(""); }) {
    RegisterOften<Set>("Rank", size, Rank<Set>);
    RegisterOften<Set>("TenByRank", size, TenByRank<Set>);
  }
  if constexpr (std::is_same_v<Set, Ours>) {
    RegisterOften<Set>("ScoreHitsAhead", size, ScoreHitsAhead);
  }
}

template void RegisterQueries<Ours>(int64_t size);
template void RegisterQueries<Abseil>(int64_t size);

}  // namespace zsetd::bench
