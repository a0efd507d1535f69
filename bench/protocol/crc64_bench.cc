// Measures the checksum of snapshots and dumps, compared with a version that reads one byte per
// step. Time is per buffer.

#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/rdb/crc64.h"

namespace zsetd {
namespace {

using Table = std::array<uint64_t, 256>;

Table MakeTable() {
  constexpr uint64_t kReflectedPolynomial = 0x95ac9329ac4bc9b5;
  Table table = {};
  for (size_t byte = 0; byte < table.size(); ++byte) {
    uint64_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ (rest & 1 ? kReflectedPolynomial : 0);
    table[byte] = rest;
  }
  return table;
}

uint64_t ByteByByte(std::string_view bytes) {
  static const Table table = MakeTable();
  uint64_t rest = 0;
  for (const char byte : bytes) {
    rest = table[(rest ^ static_cast<uint8_t>(byte)) & 0xff] ^ rest >> 8;
  }
  return rest;
}

void Sum(benchmark::State& state, uint64_t (*sum)(std::string_view)) {
  std::string bytes(static_cast<size_t>(state.range(0)), '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31);
  for (auto _ : state) benchmark::DoNotOptimize(sum(bytes));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK_CAPTURE(Sum, IsaL, Crc64)->Arg(32)->Arg(4096)->Arg(1 << 20);
BENCHMARK_CAPTURE(Sum, OneByteAStep, ByteByByte)->Arg(32)->Arg(4096)->Arg(1 << 20);

}  // namespace
}  // namespace zsetd
