#pragma once

#include <cassert>
#include <utility>

namespace zsetd {

// Sets a value's pointer to its snapshot while the snapshot needs the value. Either side ends the
// link: the snapshot when it needs the value no more, the value before it is destroyed. A value has
// at most one snapshot at a time.
template <class Snapshot>
class SnapshotLink {
 public:
  // `pointer` is a field of the value, still null, and has a stable address.
  SnapshotLink(Snapshot*& pointer, Snapshot& snapshot) : pointer_(&pointer) {
    assert(pointer == nullptr);
    pointer = &snapshot;
  }
  SnapshotLink(const SnapshotLink&) = delete;
  ~SnapshotLink() { Cut(); }

  // Idempotent.
  void Cut() {
    if (pointer_ != nullptr) *std::exchange(pointer_, nullptr) = nullptr;
  }

 private:
  Snapshot** pointer_;  // null once it is cut
};

}  // namespace zsetd
