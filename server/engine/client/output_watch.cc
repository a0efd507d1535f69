#include "server/engine/client/output_watch.h"

namespace zsetd {
namespace {

bool IsOver(size_t bytes, int64_t limit) {
  return limit != 0 && bytes > static_cast<size_t>(limit);
}

}  // namespace

bool OutputWatch::ExceedsHard(const OutputLimit& limit, size_t unsent_bytes) {
  return IsOver(unsent_bytes, limit.hard_bytes);
}

// Like Redis, closes a client only after the limit's seconds, also if these are 0.
bool OutputWatch::Exceeds(const OutputLimit& limit, size_t unsent_bytes,
                          const Stopwatch& stopwatch) {
  if (ExceedsHard(limit, unsent_bytes)) return true;
  if (!IsOver(unsent_bytes, limit.soft_bytes)) {
    over_soft_since_.reset();
    return false;
  }
  const Micros now = stopwatch();
  if (!over_soft_since_) over_soft_since_ = now;
  const std::chrono::duration<double> over_for = now - *over_soft_since_;
  return over_for.count() > static_cast<double>(limit.soft_seconds);
}

}  // namespace zsetd
