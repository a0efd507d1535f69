// Compares the sorted set with a yardstick: bytes per member, time per operation, the longest
// pauses.
//
//   cmake --preset release -DZSETD_BENCH=ON
//   cmake --build build/release --target sorted_set_bench
//   build/release/bench/sorted_set_bench --benchmark_filter=Memory
//
// bench/compare/sorted_set runs these commands and prints a table.

#include "bench/sorted_set/sorted_set_bench.h"

#include <benchmark/benchmark.h>

#include "bench/sorted_set/yardsticks.h"

namespace zsetd::bench {
namespace {

template <class Set>
void RegisterTimes(int64_t size) {
  RegisterInsertions<Set>(size);
  RegisterQueries<Set>(size);
  RegisterChanges<Set>(size);
}

void RegisterAll() {
  RegisterMemory();
  for (const int64_t size :
       {kThousand, 10 * kThousand, 100 * kThousand, kMillion, 5 * kMillion, 10 * kMillion}) {
    RegisterTimes<Ours>(size);
    RegisterTimes<Abseil>(size);
  }
  for (const int64_t size : {kThousand, 100 * kThousand, kMillion}) RegisterDeadlines(size);
  RegisterPauses();
}

}  // namespace
}  // namespace zsetd::bench

int main(int argc, char** argv) {
  zsetd::bench::RegisterAll();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
