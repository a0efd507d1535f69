#pragma once

#include <benchmark/benchmark.h>
#include <time.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "bench/sorted_set/workload.h"

// Shared functions of the benchmarks of the sorted set. `Set` is a class of
// bench/sorted_set/yardsticks.h.
namespace zsetd::bench {

constexpr int64_t kThousand = 1000, kMillion = 1'000'000;

// A thread's own time, so that what else the machine does counts little.
inline double NowNanos() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) * 1e9 + double(now.tv_nsec);
}

inline Workload RandomWorkload() { return Workload(Members::kRandomBytes, Scores::kRandom); }

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

// Times `operation(set, workload, n)` for random n below the set's size. Each n depends on what the
// operation before returned: a server's requests come one at a time, and do not overlap in the
// processor either.
template <class Set, class Operation>
void Query(benchmark::State& state, Operation operation) {
  const size_t size = state.range(0);
  Set& set = Filled<Set>(size);
  Workload workload = RandomWorkload();
  static uint64_t n = 0;  // continues, so that no run profits from the cache of another
  for (auto _ : state) n += 1 + (operation(set, workload, Mix(n) % size) & 1);
}

// Runs once, for a benchmark that times itself or reports only counters.
template <class Set, class Benchmark>
void RegisterOnce(const std::string& name, int64_t size, Benchmark run) {
  benchmark::RegisterBenchmark((name + "/" + Set::kName).c_str(), run)
      ->Arg(size)
      ->Iterations(1)
      ->UseManualTime();
}

// Runs as often as it takes to measure its time.
template <class Set, class Benchmark>
void RegisterOften(const std::string& name, int64_t size, Benchmark run) {
  benchmark::RegisterBenchmark((name + "/" + Set::kName).c_str(), run)->Arg(size);
}

// Each in a file of its own. Those of one size are to run one after another: they share the filled
// set.
void RegisterMemory();
template <class Set>
void RegisterInsertions(int64_t size);
template <class Set>
void RegisterQueries(int64_t size);
template <class Set>
void RegisterChanges(int64_t size);
void RegisterDeadlines(int64_t size);
void RegisterPauses();

}  // namespace zsetd::bench
