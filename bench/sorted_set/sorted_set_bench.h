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

// The CPU time of this thread, on which other load of the machine has little influence.
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

// Returns a set of this size, filled in random order. Keeps the set of the last call.
template <class Set>
Set& Filled(size_t size) {
  static std::unique_ptr<Set> kept;
  if (kept == nullptr || kept->size() != size) {
    kept = std::make_unique<Set>();
    Fill(*kept, RandomWorkload(), 0, size);
  }
  return *kept;
}

// Measures `operation(set, workload, n)` for random n below the set's size. Each n depends on the
// result of the previous operation, so operations do not overlap in the processor. This resembles
// the requests of a server, which arrive one at a time.
template <class Set, class Operation>
void Query(benchmark::State& state, Operation operation) {
  const size_t size = state.range(0);
  Set& set = Filled<Set>(size);
  Workload workload = RandomWorkload();
  static uint64_t n = 0;  // not reset, so that a run does not find cached data of another run
  for (auto _ : state) n += 1 + (operation(set, workload, Mix(n) % size) & 1);
}

// Registers a benchmark that measures its time itself or reports only counters. It runs once.
template <class Set, class Benchmark>
void RegisterOnce(const std::string& name, int64_t size, Benchmark run) {
  benchmark::RegisterBenchmark((name + "/" + Set::kName).c_str(), run)
      ->Arg(size)
      ->Iterations(1)
      ->UseManualTime();
}

// Registers a benchmark that runs as often as its time requires.
template <class Set, class Benchmark>
void RegisterOften(const std::string& name, int64_t size, Benchmark run) {
  benchmark::RegisterBenchmark((name + "/" + Set::kName).c_str(), run)->Arg(size);
}

// Each of these functions is in a separate file. Benchmarks of one size must run one after another,
// because they share the filled set.
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
