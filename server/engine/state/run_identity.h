#pragma once

#include <string>

#include "core/util/time.h"

namespace zsetd {

// The identity of this run of the server.
class RunIdentity {
 public:
  explicit RunIdentity(Millis started_at);

  Millis started_at() const { return started_at_; }

  // 40 hexadecimal digits that no other run has.
  const std::string& run_id() const { return run_id_; }

 private:
  Millis started_at_;
  std::string run_id_;
};

}  // namespace zsetd
