#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/util/allocation_size.h"
#include "server/engine/client/wait.h"

namespace zsetd {

class Caller;
struct Services;

// The copies of a caller's writes: in the append-only log of this server (0 or 1), on replicas, and
// in the logs of replicas.
struct Acknowledgements {
  int64_t own_logs = 0;
  int64_t replicas = 0;
  int64_t replica_logs = 0;

  // Whether each number is at least the other's.
  bool Reaches(const Acknowledgements& wanted) const {
    return own_logs >= wanted.own_logs && replicas >= wanted.replicas &&
           replica_logs >= wanted.replica_logs;
  }
};

// Returns the copies of all writes of the caller at present.
Acknowledgements AcknowledgementsOf(const Caller& caller, const Services& services);

// The error of WAITAOF if it requires the log of this server, and the log is off.
inline constexpr std::string_view kWaitLacksLog =
    "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.";

// Waits until the caller's writes have as many copies as required (WAIT, WAITAOF). It has no keys.
class AcknowledgementWait : public Wait {
 public:
  // The caller and the services outlive this.
  AcknowledgementWait(const Caller& caller, const Services& services,
                      const Acknowledgements& wanted)
      : caller_(caller), services_(services), wanted_(wanted) {}

  bool CanServe(std::string_view, const Entry&, Millis) const override { return false; }
  void GiveUp(ReplyWriter& reply) const final;
  size_t BytesUsed() const override { return AllocationSize(sizeof(*this)); }
  bool AwaitsAcknowledgements() const override { return true; }

  // Also true if the wait has become impossible: GiveUp() then replies an error.
  bool IsAcknowledged() const override;

 private:
  // Writes the reply that reports these acknowledgements.
  virtual void Reply(ReplyWriter& reply, const Acknowledgements& reached) const = 0;

  // Whether the caller waits for the log of this server, and the log is off.
  bool LacksLog() const;

  const Caller& caller_;
  const Services& services_;
  const Acknowledgements wanted_;
};

}  // namespace zsetd
