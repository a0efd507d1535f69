// Tells libFuzzer which code a run went through, where g++ compiled that code.
//
// libFuzzer is part of LLVM and counts what clang's -fsanitize-coverage=inline-8bit-counters
// counts: how often a run took each edge of the program. g++ has only the older trace-pc: a call to
// __sanitizer_cov_trace_pc() in every block. libFuzzer takes that call too, but keeps no more of it
// than a bit, in a small map that it shares with what comparisons compared, and places it by the
// absolute address, which moves from process to process. With that a loop run once and a loop run
// thrice look the same, and what one process has found says little to the next.
//
//   engine, commands (g++)          this file                           libFuzzer
//     call trace_pc ──(--wrap)──▶  ++counters[hash(caller's place)] ◀──  reads, zeroes
//     call trace_cmp ─────────────────────────────────────────────────▶  learns words compared with
//
// So each call counts in a table of ours, by the place in the program that it came from, and the
// table is handed to libFuzzer as if clang had made it. The linker's --wrap brings the calls here.
// Comparisons (trace_cmp) need no help, but that only g++ has them of floating point.
//
// The table has four places for each block of the layers' (about 65,000), so that few share one,
// and takes libFuzzer some 20 microseconds to look through.

#include <cstddef>
#include <cstdint>

extern "C" {
// libFuzzer's, and in programs without it the sanitizer's, which does nothing.
void __sanitizer_cov_8bit_counters_init(uint8_t* begin, uint8_t* end);

extern const char __executable_start;  // by the linker: where the program stands this time
}

namespace {

constexpr int kTableBits = 18;
uint8_t counters[size_t{1} << kTableBits];

[[maybe_unused]] const bool is_registered =
    (__sanitizer_cov_8bit_counters_init(counters, counters + sizeof counters), true);

size_t PlaceOf(const void* caller) {
  const auto offset =
      reinterpret_cast<uintptr_t>(caller) - reinterpret_cast<uintptr_t>(&__executable_start);
  constexpr uint64_t kGoldenRatio = 0x9E3779B97F4A7C15;  // Knuth, TAOCP 6.4: multiplicative hashing
  return offset * kGoldenRatio >> (64 - kTableBits);
}

}  // namespace

extern "C" {

void __wrap___sanitizer_cov_trace_pc() { ++counters[PlaceOf(__builtin_return_address(0))]; }

void __sanitizer_cov_trace_cmpf(float, float) {}
void __sanitizer_cov_trace_cmpd(double, double) {}
}
