// Measures the time to write a reply: its numbers, bulks and arrays.

#include <benchmark/benchmark.h>

#include <array>
#include <string>
#include <string_view>

#include "protocol/resp/output_buffer.h"
#include "protocol/resp/reply_writer.h"
#include "protocol/text/number_text.h"

namespace zsetd {
namespace {

void FormatDouble(benchmark::State& state, double value) {
  std::array<char, kNumberBytes> text;
  for (auto _ : state) {
    benchmark::DoNotOptimize(value);
    benchmark::DoNotOptimize(zsetd::FormatDouble(value, text.data()));
  }
}
BENCHMARK_CAPTURE(FormatDouble, Digit, 7.0);
BENCHMARK_CAPTURE(FormatDouble, Timestamp, 1700000000.0);
BENCHMARK_CAPTURE(FormatDouble, Fraction, 3.1415926535897931);

constexpr int kBulks = 16;  // written before the buffer is emptied, as for a pipeline

void Bulk(benchmark::State& state) {
  const std::string bytes(state.range(0), 'x');
  OutputBuffer out;
  ReplyWriter reply(out);
  while (state.KeepRunningBatch(kBulks)) {
    out.Clear();
    for (int i = 0; i < kBulks; ++i) reply.Bulk(bytes);
    benchmark::DoNotOptimize(out.view());
  }
}
BENCHMARK(Bulk)->Arg(3)->Arg(12)->Arg(100);

// The reply of ZRANGE WITHSCORES with 1,000 members. Time is per member.
void MembersWithScores(benchmark::State& state) {
  constexpr int kMembers = 1000;
  OutputBuffer out;
  ReplyWriter reply(out);
  while (state.KeepRunningBatch(kMembers)) {
    out.Clear();
    reply.Array(2 * kMembers);
    for (int i = 0; i < kMembers; ++i) {
      reply.Bulk("000000031007");
      reply.Double(i);
    }
    benchmark::DoNotOptimize(out.view());
  }
}
BENCHMARK(MembersWithScores);

}  // namespace
}  // namespace zsetd
