#include <spdlog/spdlog.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cstdlib>
#include <random>
#include <string_view>
#include <thread>

#include "server/commands/families.h"
#include "server/engine/engine.h"
#include "server/engine/errors.h"
#include "server/net/clock.h"
#include "server/net/server.h"

namespace {

uint64_t Seed() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

}  // namespace

int main(int argc, char** argv) {
  zsetd::Settings settings;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string_view(argv[i]) == "--port") settings.port = std::atoi(argv[i + 1]);
  }
  boost::asio::io_context io(1);
  zsetd::Server* server = nullptr;
  const zsetd::Host host = {
      .stopwatch = zsetd::MonotonicNow,
      .sleep = [](zsetd::Micros time) { std::this_thread::sleep_for(time); },
      .shut_down = [&] { boost::asio::post(io, [&] { server->Stop(); }); },
  };
  zsetd::Engine engine(settings, zsetd::AllCommands(), Seed(), zsetd::UnixNow(), host);
  zsetd::Server front(io, engine);
  server = &front;
  if (const absl::Status status = front.Listen(); !status.ok()) {
    spdlog::error("{}", zsetd::ErrorLine(status));
    return EXIT_FAILURE;
  }
  spdlog::info("Ready to accept connections on port {}", settings.port);
  io.run();
  spdlog::info("Bye");
}
