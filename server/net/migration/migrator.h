#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/util/time.h"
#include "server/engine/services.h"
#include "server/net/migration/target_connection.h"

namespace zsetd {

// Hands keys over to other servers by RESTORE. All requests of a transfer are written before its
// last reply is read, so that it takes one round trip; another one if the connection is new or in
// another database. A connection is kept for ten seconds after its last use, for the same address
// and the same credentials; 64 at most.
class Migrator : public Migration {
 public:
  explicit Migrator(boost::asio::io_context& io) : timer_(io) {}

  absl::Status Send(const Target& target, size_t count, const Pack& pack,
                    std::vector<size_t>& accepted) override;

  size_t cached_connections() const override { return cached_.size(); }

 private:
  class Transfer;

  // An open connection and its target.
  struct Link {
    std::string host;
    std::string port;
    std::optional<std::string> user;
    std::optional<std::string> password;
    std::unique_ptr<TargetConnection> connection;
    std::optional<int64_t> database;  // that is selected; none: unknown
    bool authenticated = false;
    Micros last_used{0};  // by the monotonic clock

    bool LeadsTo(const Target& target) const;
  };

  std::unique_ptr<Link> TakeCached(const Target& target);
  void Keep(std::unique_ptr<Link> link);
  void AwaitIdle();
  void CloseIdle();

  std::vector<std::unique_ptr<Link>> cached_;  // the one that was used last is last
  boost::asio::steady_timer timer_;            // runs while there are any
};

}  // namespace zsetd
