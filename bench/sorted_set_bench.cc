// The sorted set beside its yardsticks: bytes per member, time per operation, the longest pauses.
//
//   cmake --preset release -DZSETD_BENCH=ON
//   cmake --build build/release --target sorted_set_bench
//   build/release/bench/sorted_set_bench --benchmark_filter=Memory
//
// bench/engine does all this and makes a table of it.

#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "bench/memory_meter.h"
#include "bench/workload.h"
#include "bench/yardsticks.h"
#include "core/keyspace.h"

namespace zsetd::bench {
namespace {

// A thread's own time, so that what else the machine does counts little.
double NowNanos() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) * 1e9 + double(now.tv_nsec);
}

Workload RandomWorkload() { return Workload(Members::kRandomBytes, Scores::kRandom); }

template <class Set>
void Fill(Set& set, Workload workload, size_t from, size_t to) {
  for (size_t n = from; n < to; ++n) set.Set(workload.Member(n), workload.Score(n));
}

// A set of that size, filled in random order; the last one asked for is kept.
template <class Set>
Set& Filled(size_t size) {
  static std::unique_ptr<Set> kept;
  if (kept == nullptr || kept->size() != size) {
    kept = std::make_unique<Set>();
    Fill(*kept, RandomWorkload(), 0, size);
  }
  return *kept;
}

// --- Bytes ---------------------------------------------------------------------------------------

template <class Set>
void Memory(benchmark::State& state, Members members, Scores scores, int updates) {
  const size_t size = state.range(0);
  for (auto _ : state) {
    const MemoryUse before = MeasureMemory();
    auto set = std::make_unique<Set>();
    Workload workload(members, scores);
    Fill(*set, workload, 0, size);
    for (size_t n = 0; n < size * updates; ++n) {
      set->Set(workload.Member(Mix(n) % size), workload.Score(size + n));
    }
    const MemoryUse after = MeasureMemory();
    state.counters["bytes"] = double(after.allocated - before.allocated) / double(size);
    state.counters["resident"] = double(after.resident - before.resident) / double(size);
    state.counters["ns"] = 0;
  }
}

// Many small sets, as recency lists are: thirty ids of nine digits with the time they were seen.
void SmallSets(benchmark::State& state) {
  const size_t count = 20'000;
  for (auto _ : state) {
    std::vector<SortedSet> sets(count);
    const MemoryUse before = MeasureMemory();
    Workload workload(Members::kNineDigits, Scores::kTimestamps);
    for (size_t n = 0; n < 30 * count; ++n) {
      sets[n % count].Set(workload.Member(n), 1'790'000'000 + double(Mix(n) % 86'400));
    }
    const MemoryUse after = MeasureMemory();
    state.counters["bytes"] = double(after.allocated - before.allocated) / count;
    state.counters["resident"] = double(after.resident - before.resident) / count;
  }
}

// --- Time ----------------------------------------------------------------------------------------

template <class Set>
void Insert(benchmark::State& state, Scores scores) {
  const size_t size = state.range(0);
  const size_t rounds = std::max<size_t>(1, 200'000 / size);
  for (auto _ : state) {
    double nanos = 0, bytes = 0;
    for (size_t round = 0; round < rounds; ++round) {
      const bool last = round + 1 == rounds;  // to measure takes the allocator's free pages away
      const MemoryUse before = last ? MeasureMemory() : MemoryUse();
      auto set = std::make_unique<Set>();
      const double start = NowNanos();
      Fill(*set, Workload(Members::kRandomBytes, scores), 0, size);
      nanos += NowNanos() - start;
      if (last) bytes = double(MeasureMemory().allocated - before.allocated);
    }
    state.counters["bytes"] = bytes / double(size);
    state.SetIterationTime(nanos / 1e9);
    state.counters["ns"] = nanos / double(size * rounds);
  }
}

// Times `operation(set, workload, n)` for random n below the set's size. Each n depends on what the
// operation before returned: a server's requests come one at a time, and do not overlap in the
// processor either.
template <class Set, class Operation>
void Query(benchmark::State& state, Operation operation) {
  const size_t size = state.range(0);
  Set& set = Filled<Set>(size);
  Workload workload = RandomWorkload();
  static uint64_t n = 0;  // goes on, so that no run finds in the cache what another has fetched
  for (auto _ : state) n += 1 + (operation(set, workload, Mix(n) % size) & 1);
}

template <class Set>
void ScoreHit(benchmark::State& state) {
  Query<Set>(state, [](Set& set, Workload& workload, size_t n) {
    return *set.Score(workload.Member(n)) < 0.5;
  });
}

// Sixteen that are known beforehand, as requests of a pipeline are: their loads overlap.
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
void Update(benchmark::State& state) {
  uint64_t step = state.range(0);
  Query<Set>(state, [&](Set& set, Workload& workload, size_t n) {
    set.Set(workload.Member(n), workload.Score(++step));
    return set.size();
  });
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

// Takes out a tenth of the set in random order, or from the low end, and puts it back untimed.
template <class Set, class Operation>
void Shrink(benchmark::State& state, Operation operation) {
  const size_t size = state.range(0);
  for (auto _ : state) {
    Set& set = Filled<Set>(size);
    const double start = NowNanos();
    for (size_t n = 0; n < size / 10; ++n) operation(set, n);
    const double nanos = NowNanos() - start;
    Fill(set, RandomWorkload(), 0, size);
    state.SetIterationTime(nanos / 1e9);
    state.counters["ns"] = nanos / double(size / 10);
  }
}

template <class Set>
void Remove(benchmark::State& state) {
  Workload workload = RandomWorkload();
  Shrink<Set>(state, [&](Set& set, size_t n) { set.Remove(workload.Member(n * 7)); });
}

template <class Set>
void PopMin(benchmark::State& state) {
  Shrink<Set>(state, [](Set& set, size_t) { set.PopMin(); });
}

// --- Pauses --------------------------------------------------------------------------------------

// Times each of `range(0)` insertions in three runs that do the same, and keeps the shortest: what
// the machine interrupts comes at another place in each run, what the structure does at the same.
// `start()` returns a function that does the nth.
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

// Keys with short values: the keyspace's dictionary grows, and the index of the deadlines.
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

// -------------------------------------------------------------------------------------------------

constexpr int64_t kThousand = 1000, kMillion = 1'000'000;

// Runs once, for a benchmark that times itself or reports only counters.
template <class Benchmark>
void RegisterOnce(const std::string& name, int64_t size, Benchmark run) {
  benchmark::RegisterBenchmark(name.c_str(), run)->Arg(size)->Iterations(1)->UseManualTime();
}

template <class Set>
void RegisterMemory() {
  const auto memory = [](const std::string& name, int64_t size, Members members, Scores scores,
                         int updates = 0) {
    RegisterOnce("Memory/" + name + "/" + Set::kName, size,
                 [=](benchmark::State& state) { Memory<Set>(state, members, scores, updates); });
  };
  memory("random20", 5 * kMillion, Members::kRandomBytes, Scores::kRandom);
  memory("random20_timestamps", 5 * kMillion, Members::kRandomBytes, Scores::kTimestamps);
  memory("padded", 5 * kMillion, Members::kPadded, Scores::kRandom);
  memory("padded_timestamps", 5 * kMillion, Members::kPadded, Scores::kTimestamps);
  memory("shortest_timestamps", kMillion, Members::kShortest, Scores::kTimestamps);
  memory("random20_ten_updates", kMillion, Members::kRandomBytes, Scores::kRandom, 10);
}

// All of one size, one after another: they share the filled set.
template <class Set>
void RegisterTimes(int64_t size) {
  const auto once = [&](const char* name, auto run) {
    RegisterOnce(std::string(name) + "/" + Set::kName, size, run);
  };
  const auto many = [&](const char* name, auto run) {
    benchmark::RegisterBenchmark((std::string(name) + "/" + Set::kName).c_str(), run)->Arg(size);
  };
  once("Insert", [](benchmark::State& state) { Insert<Set>(state, Scores::kRandom); });
  once("InsertInOrder", [](benchmark::State& state) { Insert<Set>(state, Scores::kTimestamps); });
  many("ScoreHit", ScoreHit<Set>);
  many("ScoreMiss", ScoreMiss<Set>);
  many("HundredByScore", HundredByScore<Set>);
  once("Walk", Walk<Set>);
  if constexpr (requires(Set set) { set.Rank(""); }) {
    many("Rank", Rank<Set>);
    many("TenByRank", TenByRank<Set>);
  }
  if constexpr (std::is_same_v<Set, Ours>) many("ScoreHitsAhead", ScoreHitsAhead);
  once("PopMin", PopMin<Set>);
  once("Remove", Remove<Set>);
  many("Update", Update<Set>);
}

void RegisterAll() {
  RegisterMemory<Ours>();
  RegisterMemory<Textbook>();
  RegisterOnce("Memory/small_sets/" + std::string(Ours::kName), 30, SmallSets);
  for (int64_t size = kThousand; size <= 10 * kMillion; size *= 10) {
    RegisterTimes<Ours>(size);
    RegisterTimes<Textbook>(size);
    RegisterTimes<Abseil>(size);
    if (size != kMillion) continue;
    RegisterTimes<Ours>(5 * size);
    RegisterTimes<Textbook>(5 * size);
    RegisterTimes<Abseil>(5 * size);
  }
  RegisterOnce("GrowthPauses/" + std::string(Ours::kName), 5 * kMillion, GrowthPauses<Ours>);
  RegisterOnce("GrowthPauses/" + std::string(Textbook::kName), 5 * kMillion,
               GrowthPauses<Textbook>);
  for (const bool with_deadlines : {false, true}) {
    const std::string name = with_deadlines ? "KeyPausesWithDeadlines/" : "KeyPauses/";
    RegisterOnce(name + Ours::kName, 10 * kMillion,
                 [=](benchmark::State& state) { KeyPauses(state, with_deadlines); });
  }
  RegisterOnce("FreeAll/" + std::string(Ours::kName), 5 * kMillion, FreeAll);
  RegisterOnce("RemoveHalfByRange/" + std::string(Ours::kName), 5 * kMillion, RemoveHalfByRange);
}

}  // namespace
}  // namespace zsetd::bench

int main(int argc, char** argv) {
  zsetd::bench::RegisterAll();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
