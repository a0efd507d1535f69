#pragma once

namespace zsetd {

// Ends a poller's wait from another thread. Signals that come together count as one.
class WakeSignal {
 public:
  // Throws std::system_error if there are no descriptors left.
  WakeSignal();
  ~WakeSignal();
  WakeSignal(const WakeSignal&) = delete;

  // May be called by any thread.
  void Send() const;

  // Clears the signal.
  void Clear() const;

  int descriptor() const { return descriptor_; }  // readable while there is a signal

 private:
  int descriptor_;
};

}  // namespace zsetd
