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

bool MayTakeMemory(const Client& client, const Command& command) {
  if (command.Has(kDenyOom)) return true;
  if (!client.transaction.open) return false;
  if (!EndsTransaction(command)) return true;
  return command.name == "exec" && client.transaction.may_take_memory;
}

}  // namespace

bool Engine::LacksMemoryFor(const Client& client, const Command& command) {
  return !MakeRoom() && MayTakeMemory(client, command);
}

// Evictions belong to no client: the client that caused them is notified of them too. While clients
// are paused nothing changes.
bool Engine::MakeRoom() {
  const auto limit = static_cast<size_t>(settings_.maxmemory);
  eviction_goes_on_ = false;
  if (pause_.IsOn(now_)) return true;
  if (gauge_.Used() <= limit) {
    NoteWithinLimit();
    return true;
  }
  if (!memory_short_since_) memory_short_since_ = host_.stopwatch();
  const Client* const active = std::exchange(active_, nullptr);
  const bool made = EvictDownTo(limit);
  active_ = active;
  if (gauge_.Used() <= limit) NoteWithinLimit();
  return made;
}

bool Engine::EvictDownTo(size_t limit) {
  const EvictionPolicy policy = EvictionPolicy::Of(settings_.maxmemory_policy);
  const auto samples = static_cast<size_t>(settings_.maxmemory_samples);
  const Micros start = host_.stopwatch();
  const Micros until = start + EvictionBudget(settings_.maxmemory_eviction_tenacity);
  size_t evicted = 0;
  while (gauge_.Used() > limit) {
    const auto victim = evictor_.Choose(policy, samples, databases_);
    if (!victim) break;
    databases_[victim->database]->Evict(victim->key);
    if (++evicted % kEvictionsPerLook != 0 || host_.stopwatch() <= until) continue;
    eviction_goes_on_ = true;
    break;
  }
  if (evicted > 0) {
    latency_.Consider("eviction-cycle", host_.stopwatch() - start, now_,
                      settings_.latency_monitor_threshold);
  }
  return eviction_goes_on_ || gauge_.Used() <= limit;
}

void Engine::NoteWithinLimit() {
  if (!memory_short_since_) return;
  stats_.memory_short_time += host_.stopwatch() - *memory_short_since_;
  memory_short_since_.reset();
}

Micros Engine::memory_short_for() const {
  return memory_short_since_ ? host_.stopwatch() - *memory_short_since_ : Micros(0);
}

void Engine::LookAfterMemory() {
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

// Those that asked to be spared (CLIENT NO-EVICT) do not count.
void Engine::Weigh(Client& client) {
  const size_t bytes = client.no_evict ? 0 : BytesUsedBy(client);
  client_bytes_ += bytes - client.weighed_bytes;
  client.weighed_bytes = bytes;
}

void Engine::CloseGreatestClients() {
  const size_t limit = ClientMemoryLimit();
  while (limit > 0 && client_bytes_ > limit) {
    const auto greatest = std::ranges::max_element(
        clients_, {}, [](const auto& each) { return each.second->weighed_bytes; });
    ++stats_.evicted_clients;
    host_.log("Closing " + greatest->second->address + ": client buffers exceed " +
              std::to_string(limit) + " bytes (maxmemory-clients), and this client uses most");
    Disconnect(*greatest->second);
  }
}

void Engine::WeighAllClients() {
  if (ClientMemoryLimit() == 0) return;
  for (const auto& [id, client] : clients_) Weigh(*client);
  CloseGreatestClients();
}

}  // namespace zsetd
