#pragma once

#include <functional>
#include <utility>

namespace zsetd {

// Owns the entry of a service in the engine: the destructor removes the service. A service owns its
// installations, and declares them last, so the engine does not call it while it is destroyed.
class [[nodiscard]] Installation {
 public:
  explicit Installation(std::function<void()> remove) : remove_(std::move(remove)) {}
  Installation(Installation&& other) noexcept : remove_(std::exchange(other.remove_, nullptr)) {}
  Installation& operator=(Installation&&) = delete;
  ~Installation() {
    if (remove_) remove_();
  }

 private:
  std::function<void()> remove_;
};

}  // namespace zsetd
