// How the engine keeps memory within its limits: while more than `maxmemory` is in use, keys are
// evicted before each command, and if that is not enough, commands that may need memory are
// rejected; and if client buffers exceed `maxmemory-clients`, the largest clients are closed.
//
// While memory suffices, the check of `maxmemory` must stay negligible beside the cheapest command.
// To count its instructions:
//
//   valgrind --tool=callgrind --callgrind-out-file=counts build/release/zsetd --maxmemory 100gb
//   redis-benchmark -n 48000 -r 1000 -P 16 -c 1 ZADD board __rand_int__ member:__rand_int__
//   callgrind_annotate --inclusive=yes counts | grep LacksMemoryFor

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "core/util/allocation_size.h"
#include "server/engine/client/client_memory.h"
#include "server/engine/engine.h"

namespace zsetd {
namespace {

constexpr size_t kEvictionsPerLook = 16;  // between two readings of the stopwatch

// How long evictions may delay a command: 500 microseconds in the middle, and without limit at the
// end of the scale. As Redis.
Micros EvictionBudget(int64_t tenacity) {
  constexpr int64_t kMiddle = 10;
  constexpr double kGrowth = 1.15;
  if (tenacity >= 100) return Micros::max() / 2;
  if (tenacity <= kMiddle) return Micros(50 * tenacity);
  const double steps = static_cast<double>(tenacity - kMiddle);
  return Micros(static_cast<int64_t>(500 * std::pow(kGrowth, steps)));
}

// What a transaction may still run although each queued request takes memory.
bool EndsTransaction(const Command& command) {
  constexpr std::array<std::string_view, 4> kEnds = {"exec", "discard", "quit", "reset"};
  return std::ranges::count(kEnds, command.name) > 0;
}

// The most that a key, channel or prefix takes that a client has the server keep.
size_t MostBytesToKeep(Args argv) {
  constexpr size_t kMostPerWord = 320;  // without its bytes: BytesPerKey, BytesPerName
  size_t bytes = 0;
  for (const std::string_view word : argv) {
    bytes += kMostPerWord + 2 * StringAllocationSize(word.size());
  }
  return bytes;
}

// Whether the command has the server keep more for the client than each client may have in any
// case: a client that watches or waits for a few keys, or listens to a few channels, uses less for
// them than for its connection, and is never refused, as in Redis.
bool KeepsMuch(const Client& client, const Command& command, Args argv) {
  constexpr size_t kLittle = 16u << 10;
  if (!command.Has(kKeepsMemory) && !command.Has(kBlocking)) return false;
  return KeptBytes(client) + MostBytesToKeep(argv) > kLittle;
}

// Whether the client would take memory, apart from keys.
bool MayGrow(const Client& client, const Command& command, Args argv) {
  if (client.transaction.open && !EndsTransaction(command)) return true;
  return KeepsMuch(client, command, argv);
}

bool MayTakeMemory(const Client& client, const Command& command, Args argv) {
  if (command.Has(kDenyOom) || MayGrow(client, command, argv)) return true;
  return command.Has(kRunsTransaction) && client.transaction.open &&
         client.transaction.may_take_memory;
}

}  // namespace

// While clients are paused no key is evicted, and writes are held back rather than refused; but
// what the server keeps for clients is limited all the same.
bool Engine::LacksMemoryFor(const Client& client, const Command& command, Args argv) {
  if (!pause_.IsOn(now_)) {
    memory_is_short_ = !MakeRoom();
    return memory_is_short_ && MayTakeMemory(client, command, argv);
  }
  const auto limit = static_cast<size_t>(settings_.maxmemory);
  return gauge_.Used() > limit && MayGrow(client, command, argv);
}

// Evictions belong to no client: the client that caused them is notified of them too. While clients
// are paused nothing changes.
bool Engine::MakeRoom() {
  const auto limit = static_cast<size_t>(settings_.maxmemory);
  eviction_goes_on_ = false;
  if (pause_.IsOn(now_) || suspended_) return true;
  if (gauge_.Used() <= limit) {
    RecordWithinLimit();
    return true;
  }
  if (!memory_short_since_) memory_short_since_ = host_.stopwatch();
  const Client* const active = std::exchange(active_, nullptr);
  const bool made = EvictDownTo(limit);
  active_ = active;
  if (gauge_.Used() <= limit) RecordWithinLimit();
  return made;
}

// Evicts as many keys as the present excess needs. The messages that evictions cause (keyspace
// events, CLIENT TRACKING) do not count, or evictions would cause further ones.
bool Engine::EvictDownTo(size_t limit) {
  const EvictionPolicy policy = EvictionPolicy::Of(settings_.maxmemory_policy);
  const auto samples = static_cast<size_t>(settings_.maxmemory_samples);
  const Micros start = host_.stopwatch();
  const Micros until = start + EvictionBudget(settings_.maxmemory_eviction_tenacity);
  size_t evicted = 0;
  auto excess = static_cast<int64_t>(gauge_.Used()) - static_cast<int64_t>(limit);
  while (excess > 0) {
    const auto victim = evictor_.Choose(policy, samples, databases_);
    if (!victim) break;
    excess -= Evict(*victim);
    if (++evicted % kEvictionsPerLook != 0 || host_.stopwatch() <= until) continue;
    eviction_goes_on_ = true;
    break;
  }
  if (evicted > 0) {
    metrics_.RecordLatency("eviction-cycle", host_.stopwatch() - start, now_);
  }
  return eviction_goes_on_ || excess <= 0;
}

// Returns how many bytes the key took.
int64_t Engine::Evict(const Evictor::Victim& victim) {
  announcement_bytes_ = 0;
  const auto before = static_cast<int64_t>(gauge_.Used());
  databases_[victim.database]->Evict(victim.key);
  return before - static_cast<int64_t>(gauge_.Used()) + announcement_bytes_;
}

void Engine::RecordWithinLimit() {
  if (!memory_short_since_) return;
  metrics_.stats().memory_short_time += host_.stopwatch() - *memory_short_since_;
  memory_short_since_.reset();
}

Micros Engine::memory_short_for() const {
  return memory_short_since_ ? host_.stopwatch() - *memory_short_since_ : Micros(0);
}

void Engine::MaintainMemory() {
  constexpr Millis kBetweenCalibrations{100};
  if (settings_.maxmemory == 0) return;
  if (std::chrono::abs(now_ - gauge_calibrated_at_) >= kBetweenCalibrations) {
    gauge_calibrated_at_ = now_;
    gauge_.Calibrate();
  }
  MakeRoom();
}

size_t Engine::ClientMemoryLimit() const {
  const int64_t limit = settings_.maxmemory_clients;
  if (limit >= 0) return static_cast<size_t>(limit);
  return static_cast<size_t>(static_cast<double>(settings_.maxmemory) / 100 *
                             static_cast<double>(-limit));
}

// A client's memory is freed as soon as it is disconnected, so that no key is evicted for it.
void Engine::EvictClients() {
  const size_t limit = ClientMemoryLimit();
  if (limit == 0) return;
  while (weights_.Sum() > limit) {
    Client* const heaviest = weights_.Heaviest();
    if (heaviest == nullptr) return;
    ++metrics_.stats().evicted_clients;
    host_.log("Closing " + heaviest->address + ": clients use more than " + std::to_string(limit) +
              " bytes (maxmemory-clients), and this one is among the largest: " +
              std::to_string(heaviest->weight.bytes) + " bytes");
    Disconnect(*heaviest);
  }
}

void Engine::OnMemoryChange(Client& client) {
  if (!weights_.is_on()) return;
  client.NoteMemory();
  EvictClients();
}

}  // namespace zsetd
