#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/util/time.h"
#include "server/engine/services/installation.h"
#include "server/engine/services/migration.h"
#include "server/net/migration/target_connection.h"

namespace zsetd {

class Engine;

// Moves keys to other servers with RESTORE. Writes all requests of a transfer before it reads the
// last reply, so a transfer takes one round trip. A new connection or another database takes one
// more. The connections use TLS if the setting tls-cluster is yes. A connection is kept for ten
// seconds after its last use, and reused for the same address and credentials. At most 64 are kept.
class Migrator : public Migration {
 public:
  // The arguments outlive this.
  Migrator(Engine& engine, boost::asio::io_context& io);

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
    bool with_tls = false;
    std::unique_ptr<TargetConnection> connection;
    std::optional<int64_t> database;  // the selected one; nullopt if unknown
    bool authenticated = false;
    Micros last_used{0};  // monotonic time

    bool LeadsTo(const Target& target, bool tls) const;
  };

  absl::Status Open(const Target& target, std::unique_ptr<Link>& link) const;
  std::unique_ptr<Link> TakeCached(const Target& target);
  void Keep(std::unique_ptr<Link> link);
  void AwaitIdle();
  void CloseIdle();

  Engine& engine_;
  std::vector<std::unique_ptr<Link>> cached_;  // in the order of their last use
  boost::asio::steady_timer timer_;
  bool timer_runs_ = false;  // true while any is cached
  const Installation installation_;
};

}  // namespace zsetd
