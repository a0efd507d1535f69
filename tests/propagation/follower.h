#pragma once

#include <string>
#include <string_view>

#include "server/engine/applier.h"
#include "tests/transcript/engine_peer.h"

namespace zsetd {

// Follows a server: applies the units that it propagates, and must reach the same data.
class Follower {
 public:
  virtual ~Follower() = default;

  // Applies these units. Returns the error; empty if nothing is wrong.
  virtual std::string Follow(std::string_view units) = 0;

  // Returns the reply to DEBUG DIGEST.
  virtual std::string Digest() = 0;
};

// An engine that applies units like those of a log.
class EngineFollower : public Follower {
 public:
  std::string Follow(std::string_view units) override;
  std::string Digest() override;

  EnginePeer& peer() { return peer_; }

 private:
  EnginePeer peer_;
  Applier applier_{peer_.engine()};
};

// A redis-server that receives units as the requests of a client.
class RedisFollower : public Follower {
 public:
  explicit RedisFollower(int port);
  RedisFollower(const RedisFollower&) = delete;
  ~RedisFollower() override;

  std::string Follow(std::string_view units) override;
  std::string Digest() override;

 private:
  std::string Ask(std::string_view requests);

  const int socket_;
};

}  // namespace zsetd
