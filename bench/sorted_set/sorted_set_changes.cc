// Measures the time of changes: filling a set, and changing a filled set.

#include <algorithm>
#include <memory>
#include <string>

#include "bench/sorted_set/memory_meter.h"
#include "bench/sorted_set/sorted_set_bench.h"
#include "bench/sorted_set/workload.h"
#include "bench/sorted_set/yardsticks.h"

namespace zsetd::bench {
namespace {

// The number of times that an operation is applied to a whole set of this size, so that the code is
// in the cache.
size_t RoundsFor(size_t size) { return std::max<size_t>(1, 200'000 / size); }

template <class Set>
void Insert(benchmark::State& state, Members members, Scores scores) {
  const size_t size = state.range(0);
  const size_t rounds = RoundsFor(size);
  for (auto _ : state) {
    double nanos = 0, bytes = 0;
    for (size_t round = 0; round < rounds; ++round) {
      const bool last = round + 1 == rounds;  // measuring releases the allocator's free pages
      const MemoryUse before = last ? MeasureMemory() : MemoryUse();
      auto set = std::make_unique<Set>();
      const double start = NowNanos();
      Fill(*set, Workload(members, scores), 0, size);
      nanos += NowNanos() - start;
      if (last) bytes = double(MeasureMemory().allocated - before.allocated);
    }
    state.counters["bytes"] = bytes / double(size);
    state.SetIterationTime(nanos / 1e9);
    state.counters["ns"] = nanos / double(size * rounds);
  }
}

template <class Set>
void Update(benchmark::State& state) {
  uint64_t step = state.range(0);
  Query<Set>(state, [&](Set& set, Workload& workload, size_t n) {
    set.Set(workload.Member(n), workload.Score(++step));
    return set.size();
  });
}

// Measures the removal of a tenth of the set by `operation`. Adding the elements again is not
// measured.
template <class Set, class Operation>
void Shrink(benchmark::State& state, Operation operation) {
  const size_t size = state.range(0);
  const size_t rounds = RoundsFor(size);
  for (auto _ : state) {
    Set& set = Filled<Set>(size);
    double nanos = 0;
    for (size_t round = 0; round < rounds; ++round) {
      const double start = NowNanos();
      for (size_t n = 0; n < size / 10; ++n) operation(set, n);
      nanos += NowNanos() - start;
      Fill(set, RandomWorkload(), 0, size);
    }
    state.SetIterationTime(nanos / 1e9);
    state.counters["ns"] = nanos / double(size / 10 * rounds);
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

}  // namespace

template <class Set>
void RegisterInsertions(int64_t size) {
  const auto insert = [=](const std::string& name, Members members, Scores scores) {
    RegisterOnce<Set>(name, size,
                      [=](benchmark::State& state) { Insert<Set>(state, members, scores); });
  };
  insert("Insert", Members::kRandomBytes, Scores::kRandom);
  insert("InsertInOrder", Members::kRandomBytes, Scores::kTimestamps);
  insert("InsertDescending", Members::kRandomBytes, Scores::kDescending);
  insert("InsertNegativeTime", Members::kRandomBytes, Scores::kNegativeTimestamps);
  insert("InsertEqualInOrder", Members::kPadded, Scores::kEqual);
  insert("InsertEqualDescending", Members::kPaddedDescending, Scores::kEqual);
}

template <class Set>
void RegisterChanges(int64_t size) {
  RegisterOnce<Set>("PopMin", size, PopMin<Set>);
  RegisterOnce<Set>("Remove", size, Remove<Set>);
  RegisterOften<Set>("Update", size, Update<Set>);
}

template void RegisterInsertions<Ours>(int64_t size);
template void RegisterInsertions<Abseil>(int64_t size);
template void RegisterChanges<Ours>(int64_t size);
template void RegisterChanges<Abseil>(int64_t size);

}  // namespace zsetd::bench
