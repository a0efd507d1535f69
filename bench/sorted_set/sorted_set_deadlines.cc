// Measures time and bytes of deadlines of members, all within a day. The yardstick has no
// deadlines.

#include <string>

#include "bench/sorted_set/sorted_set_bench.h"
#include "bench/sorted_set/workload.h"
#include "bench/sorted_set/yardsticks.h"
#include "core/util/time.h"

namespace zsetd::bench {
namespace {

Millis DeadlineOf(uint64_t n) {
  constexpr uint64_t kStart = 1'790'000'000'000, kDay = 86'400'000;
  return Millis(kStart + Mix(n) % kDay);
}

// A set in which each member has a deadline.
class Timed {
 public:
  explicit Timed(size_t size) : size_(size) {
    Fill(set_, RandomWorkload(), 0, size);
    const size_t before = set_.set().BytesUsed();
    const double start = NowNanos();
    for (size_t n = 0; n < size; ++n) SetDeadline(n, n);
    nanos_each_ = (NowNanos() - start) / double(size);
    bytes_each_ = double(set_.set().BytesUsed() - before) / double(size);
  }

  size_t size() const { return size_; }
  double nanos_each() const { return nanos_each_; }
  double bytes_each() const { return bytes_each_; }

  // Returns the nanoseconds of `operation(n)` per member, for all members in random order.
  template <class Operation>
  double NanosOf(Operation operation) {
    const double start = NowNanos();
    for (size_t n = 0; n < size_; ++n) operation(Mix(n) % size_);
    return (NowNanos() - start) / double(size_);
  }

  void SetDeadline(size_t member, uint64_t deadline) {
    set_.set().SetDeadline(workload_.Member(member), DeadlineOf(deadline));
  }
  void Move(size_t member) {
    set_.set().Add(workload_.Member(member), workload_.Score(size_ + member), kKeepDeadline);
    SetDeadline(member, size_ + member);
  }
  void Insert() {
    set_.Set(workload_.Member(size_ + inserted_), workload_.Score(size_ + inserted_));
    ++inserted_;
  }

 private:
  static constexpr AddRule kKeepDeadline = {.keep_deadline = true};

  size_t size_;
  Workload workload_ = RandomWorkload();
  Ours set_;
  size_t inserted_ = 0;
  double nanos_each_ = 0, bytes_each_ = 0;
};

void FirstDeadlines(benchmark::State& state) {
  for (auto _ : state) {
    const Timed timed(state.range(0));
    state.counters["ns"] = timed.nanos_each();
    state.counters["bytes"] = timed.bytes_each();
    state.SetIterationTime(timed.nanos_each() * double(state.range(0)) / 1e9);
  }
}

template <class Operation>
void WithDeadlines(benchmark::State& state, Operation operation) {
  for (auto _ : state) {
    Timed timed(state.range(0));
    const double nanos = timed.NanosOf([&](size_t n) { operation(timed, n); });
    state.counters["ns"] = nanos;
    state.SetIterationTime(nanos * double(state.range(0)) / 1e9);
  }
}

}  // namespace

void RegisterDeadlines(int64_t size) {
  const auto with_deadlines = [=](const std::string& name, auto operation) {
    RegisterOnce<Ours>(name, size,
                       [=](benchmark::State& state) { WithDeadlines(state, operation); });
  };
  RegisterOnce<Ours>("FirstDeadlines", size, FirstDeadlines);
  with_deadlines("NextDeadlines",
                 [](Timed& timed, size_t n) { timed.SetDeadline(n, timed.size() + n); });
  with_deadlines("MoveWithDeadlines", [](Timed& timed, size_t n) { timed.Move(n); });
  with_deadlines("InsertAmongDeadlines", [](Timed& timed, size_t) { timed.Insert(); });
}

}  // namespace zsetd::bench
