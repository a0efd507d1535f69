// Measures the time to parse a request: its words, and the numbers in them.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "protocol/resp/request_parser.h"
#include "protocol/text/number_text.h"

namespace zsetd {
namespace {

constexpr std::string_view kZAdd =
    "*4\r\n$4\r\nZADD\r\n$5\r\nboard\r\n$4\r\n3100\r\n$12\r\n000000031007\r\n";
constexpr std::string_view kPing = "*1\r\n$4\r\nPING\r\n";

std::string Repeated(std::string_view request, int64_t times) {
  std::string bytes;
  for (int64_t i = 0; i < times; ++i) bytes += request;
  return bytes;
}

// Parses all requests of one read, as a session does. Time is per request.
void Parse(benchmark::State& state, std::string_view request) {
  const std::string bytes = Repeated(request, state.range(0));
  RequestParser parser;
  while (state.KeepRunningBatch(state.range(0))) {
    std::copy(bytes.begin(), bytes.end(), parser.Space().begin());
    parser.Arrived(bytes.size());
    while (parser.Next() == RequestParser::Result::kRequest) {
      benchmark::DoNotOptimize(parser.argv().data());
    }
  }
}
BENCHMARK_CAPTURE(Parse, Ping, kPing)->Arg(1)->Arg(16);
BENCHMARK_CAPTURE(Parse, ZAddOfFourWords, kZAdd)->Arg(1)->Arg(16);

void ParseDouble(benchmark::State& state, std::string_view text) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(text);
    benchmark::DoNotOptimize(zsetd::ParseDouble(text));
  }
}
BENCHMARK_CAPTURE(ParseDouble, Digit, "7");
BENCHMARK_CAPTURE(ParseDouble, Timestamp, "1700000000");
BENCHMARK_CAPTURE(ParseDouble, Fraction, "3.1415926535897931");

}  // namespace
}  // namespace zsetd
