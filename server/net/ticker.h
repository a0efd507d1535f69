#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/time.h"
#include "server/engine/engine.h"

namespace zsetd {

// Moves the engine's time forward while nobody asks anything: `hz` times a second, and at the
// moment when the next key comes due.
class Ticker {
 public:
  Ticker(boost::asio::io_context& io, Engine& engine) : engine_(engine), timer_(io) {}

  void Start() { Arm(); }
  void Stop();

  // To be called when commands have run: a deadline may now be nearer than the next tick.
  void Reconsider();

 private:
  Millis NextTick() const;
  void Arm();
  void Tick();

  Engine& engine_;
  boost::asio::steady_timer timer_;
  Millis armed_for_{0};
  bool stopped_ = false;
};

}  // namespace zsetd
