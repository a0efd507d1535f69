#include "server/engine/state/disk_state.h"

#include "server/engine/support/errors.h"

namespace zsetd {

absl::Status DiskState::Error() const {
  if (log_error_.empty()) return Refusal(kSnapshotsFail);
  return Refusal("MISCONF Errors writing to the AOF file: " + log_error_);
}

}  // namespace zsetd
