// A small load generator. In addition to redis-benchmark, it supports steps of several requests
// that share a number, and a fixed rate. bench/compare/versus runs it; --help describes its
// options.

#include <sys/resource.h>

#include <cstring>
#include <iostream>

#include "bench/load/generator.h"
#include "bench/load/options.h"

namespace zsetd {
namespace {

Clock::duration CpuTime() {
  rusage usage;
  ::getrusage(RUSAGE_SELF, &usage);
  const auto time = [](const timeval& value) {
    return std::chrono::seconds(value.tv_sec) + Micros(value.tv_usec);
  };
  return time(usage.ru_utime) + time(usage.ru_stime);
}

absl::Status RunLoad(int argc, char** argv) {
  const absl::StatusOr<Options> options = ParseOptions(argc, argv);
  if (!options.ok()) return options.status();
  absl::StatusOr<Step> step = Step::Parse(options->step, options->variables);
  if (!step.ok()) return step.status();
  Generator generator(*options, *std::move(step));
  if (const absl::Status status = generator.Connect(); !status.ok()) return status;
  const TimePoint start = Clock::now();
  const Clock::duration cpu = CpuTime();
  const absl::StatusOr<Results> results = generator.Run();
  if (!results.ok()) return results.status();
  std::cout << results->Json(Clock::now() - start, CpuTime() - cpu) << "\n";
  return absl::OkStatus();
}

}  // namespace
}  // namespace zsetd

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--help") == 0) {
    std::cout << zsetd::kUsage;
    return 0;
  }
  const absl::Status status = zsetd::RunLoad(argc, argv);
  if (status.ok()) return 0;
  std::cerr << "load_generator: " << status.message() << "\n";
  return 1;
}
