// Measures bytes per member.

#include <memory>
#include <string>
#include <vector>

#include "bench/sorted_set/memory_meter.h"
#include "bench/sorted_set/sorted_set_bench.h"
#include "bench/sorted_set/workload.h"
#include "bench/sorted_set/yardsticks.h"

namespace zsetd::bench {
namespace {

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

// Many small sets, like recency lists: thirty IDs of nine digits with the time of the last view.
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

template <class Set>
void RegisterMemoryOf() {
  const auto memory = [](const std::string& name, int64_t size, Members members, Scores scores,
                         int updates = 0) {
    RegisterOnce<Set>("Memory/" + name, size, [=](benchmark::State& state) {
      Memory<Set>(state, members, scores, updates);
    });
  };
  memory("random20", 5 * kMillion, Members::kRandomBytes, Scores::kRandom);
  memory("random20_timestamps", 5 * kMillion, Members::kRandomBytes, Scores::kTimestamps);
  memory("padded", 5 * kMillion, Members::kPadded, Scores::kRandom);
  memory("padded_timestamps", 5 * kMillion, Members::kPadded, Scores::kTimestamps);
  memory("shortest_timestamps", kMillion, Members::kShortest, Scores::kTimestamps);
  memory("random20_ten_updates", kMillion, Members::kRandomBytes, Scores::kRandom, 10);
}

}  // namespace

void RegisterMemory() {
  RegisterMemoryOf<Ours>();
  RegisterOnce<Ours>("Memory/small_sets", 30, SmallSets);
}

}  // namespace zsetd::bench
