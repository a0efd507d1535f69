#pragma once

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "protocol/resp/args.h"
#include "server/engine/client/client.h"
#include "server/engine/command/command.h"

namespace zsetd {

class Engine;

// Decides whether a client's request may run now.
class Admission {
 public:
  // The engine outlives it.
  explicit Admission(Engine& engine) : engine_(engine) {}
  Admission(const Admission&) = delete;

  // Returns the error to reply, or OK. Evicts keys if memory is short. `command` is null if the
  // name is unknown.
  absl::Status Check(Client& client, const Command* command, Args argv);

  // The flags that apply to this request: a script may declare other ones than its row has.
  uint32_t FlagsOf(const Command& command, Args argv) const;

  // Evicts keys while memory is short and keys may be evicted.
  void MakeRoom();

 private:
  bool HasFlag(const Command& command, Args argv, CommandFlag flag) const;
  bool Involves(const Client& client, const Command& command, Args argv, CommandFlag flag) const;
  bool Lacks(const Client& client, const Command& command, Args argv, CommandFlag flag) const;
  bool LacksMemoryFor(const Client& client, const Command& command, Args argv);

  using StateCheck = absl::Status (Admission::*)(const Client&, const Command&, Args) const;
  static const std::array<StateCheck, 4> kStateChecks;
  bool IsStateNormal() const;
  absl::Status CheckState(const Client& client, const Command& command, Args argv) const;
  absl::Status CheckDisk(const Client& client, const Command& command, Args argv) const;
  absl::Status CheckRole(const Client& client, const Command& command, Args argv) const;
  absl::Status CheckLoaded(const Client& client, const Command& command, Args argv) const;
  absl::Status CheckBusy(const Client& client, const Command& command, Args argv) const;

  Engine& engine_;
};

}  // namespace zsetd
