#include "server/cluster/bus/cluster_bus.h"

#include <utility>

namespace zsetd {

class ClusterBus::Machine {
 public:
  Machine(Topology nodes, BusHost& surroundings, Rng& dice, const BusSettings& values)
      : topology(std::move(nodes)), host(surroundings), rng(dice), settings(values) {}

  Topology topology;
  BusHost& host;
  Rng& rng;
  BusSettings settings;
  MessageCounts sent{};
  MessageCounts received{};
};

ClusterBus::ClusterBus(Topology topology, BusHost& host, Rng& rng, const BusSettings& settings)
    : machine_(std::make_unique<Machine>(std::move(topology), host, rng, settings)) {}

ClusterBus::~ClusterBus() = default;

const Topology& ClusterBus::topology() const { return machine_->topology; }
const ClusterBus::MessageCounts& ClusterBus::sent_messages() const { return machine_->sent; }
const ClusterBus::MessageCounts& ClusterBus::received_messages() const {
  return machine_->received;
}

}  // namespace zsetd
