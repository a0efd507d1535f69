#pragma once

namespace zsetd {

// Ends a poller's wait from another thread. Several signals before Clear() count as one.
class WakeSignal {
 public:
  // Throws std::system_error if no descriptor is left.
  WakeSignal();
  ~WakeSignal();
  WakeSignal(const WakeSignal&) = delete;

  // May be called by any thread.
  void Send() const;

  // Clears the signal.
  void Clear() const;

  int descriptor() const { return descriptor_; }  // readable while a signal is pending

 private:
  int descriptor_;
};

}  // namespace zsetd
