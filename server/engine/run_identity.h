#pragma once

#include <string>

#include "core/util/rng.h"
#include "core/util/time.h"

namespace zsetd {

// What identifies this run of the server, and the history of its data. Both are 40 hexadecimal
// digits.
class RunIdentity {
 public:
  // `rng` outlives it.
  RunIdentity(Rng& rng, Millis started_at);

  Millis started_at() const { return started_at_; }
  const std::string& run_id() const { return run_id_; }  // that no other run has

  const std::string& replication_id() const { return replication_id_; }
  void ChangeReplicationId();

 private:
  Rng& rng_;
  Millis started_at_;
  std::string run_id_;
  std::string replication_id_;
};

}  // namespace zsetd
