#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/util/time.h"

namespace zsetd {

// Moves keys to other servers (MIGRATE). All clients wait during the call.
class Migration {
 public:
  struct Target {
    std::string_view host;
    std::string_view port;
    int64_t database = 0;
    std::optional<std::string_view> user;      // nullopt: the default user
    std::optional<std::string_view> password;  // nullopt: without authentication
    Millis timeout{1000};                      // of each step on the connection
    bool replaces = false;                     // replaces keys that the target has
    bool asks = false;                         // the target may import the slot of the keys
  };

  struct KeyPayload {
    std::string_view key;
    Millis time_to_live{0};  // 0: without end
    std::string dump;        // as of DUMP
  };
  // Makes the payload with this number; may be called again.
  using Pack = std::function<KeyPayload(size_t number)>;

  virtual ~Migration() = default;

  // Sends `count` payloads, one in memory at a time, and waits for the reply to each. Stores the
  // numbers of the accepted ones in `accepted`, whatever the result is. A refusal is the error to
  // reply.
  virtual absl::Status Send(const Target& target, size_t count, const Pack& pack,
                            std::vector<size_t>& accepted) = 0;

  // The connections that are kept for the next transfer.
  virtual size_t cached_connections() const = 0;
};

}  // namespace zsetd
