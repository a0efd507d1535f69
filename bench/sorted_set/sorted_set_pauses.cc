// Measures the longest pauses: of one insertion while a set or the keyspace grows, and of removals.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bench/sorted_set/sorted_set_bench.h"
#include "bench/sorted_set/workload.h"
#include "bench/sorted_set/yardsticks.h"
#include "core/keyspace/keyspace.h"
#include "core/keyspace/value.h"

namespace zsetd::bench {
namespace {

// Measures each of `range(0)` insertions in three equal runs, and keeps the minimum of each.
// Interruptions by the machine occur at different insertions in each run, and pauses of the
// structure at the same ones. `start()` returns a function that makes the nth insertion.
template <class Start>
void Pauses(benchmark::State& state, Start start) {
  std::vector<float> micros(state.range(0), 1e9f);
  for (auto _ : state) {
    for (int run = 0; run < 3; ++run) {
      auto insert = start();
      for (size_t n = 0; n < micros.size(); ++n) {
        const double before = NowNanos();
        insert(n);
        micros[n] = std::min(micros[n], float((NowNanos() - before) / 1e3));
      }
    }
  }
  std::sort(micros.begin(), micros.end());
  const size_t last = micros.size() - 1;
  state.counters["worst_us"] = micros[last];
  state.counters["p99.99_us"] = micros[last - last / 10'000];
  state.counters["p99_us"] = micros[last - last / 100];
}

template <class Set>
void GrowthPauses(benchmark::State& state) {
  Pauses(state, [] {
    return [set = std::make_unique<Set>(), workload = RandomWorkload()](size_t n) mutable {
      set->Set(workload.Member(n), workload.Score(n));
    };
  });
}

// Inserts keys with short values. The keyspace's dictionary and the index of the deadlines grow.
void KeyPauses(benchmark::State& state, bool with_deadlines) {
  Pauses(state, [=] {
    return [=, keyspace = std::make_unique<Keyspace>(1),
            workload = Workload(Members::kPadded, Scores::kRandom)](size_t n) mutable {
      const std::string_view key = workload.Member(Mix(n));
      const auto deadline = with_deadlines ? std::optional(Millis(Mix(n) >> 24)) : std::nullopt;
      if (keyspace->Find(key) != nullptr) return;
      keyspace->Insert(Entry::Make(key, ByteString("eighteen bytes yes"), deadline));
    };
  });
}

void FreeAll(benchmark::State& state) {
  for (auto _ : state) {
    auto set = std::make_unique<Ours>();
    Fill(*set, RandomWorkload(), 0, state.range(0));
    const double start = NowNanos();
    set.reset();
    state.counters["ms"] = (NowNanos() - start) / 1e6;
  }
}

void RemoveHalfByRange(benchmark::State& state) {
  const size_t size = state.range(0);
  for (auto _ : state) {
    Ours set;
    Fill(set, RandomWorkload(), 0, size);
    const double start = NowNanos();
    set.set().Remove(RankRange{size / 4, size * 3 / 4});
    state.counters["ms"] = (NowNanos() - start) / 1e6;
  }
}

}  // namespace

void RegisterPauses() {
  RegisterOnce<Ours>("GrowthPauses", 5 * kMillion, GrowthPauses<Ours>);
  for (const bool with_deadlines : {false, true}) {
    const std::string name = with_deadlines ? "KeyPausesWithDeadlines" : "KeyPauses";
    RegisterOnce<Ours>(name, 10 * kMillion,
                       [=](benchmark::State& state) { KeyPauses(state, with_deadlines); });
  }
  RegisterOnce<Ours>("FreeAll", 5 * kMillion, FreeAll);
  RegisterOnce<Ours>("RemoveHalfByRange", 5 * kMillion, RemoveHalfByRange);
}

}  // namespace zsetd::bench
