#include "tests/transcript/engine_peer.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <thread>
#include <utility>

#include "protocol/resp/request_parser.h"
#include "server/commands/all_commands.h"
#include "server/engine/acl/input_limits.h"
#include "server/engine/port/concurrent_reads.h"

namespace zsetd {
namespace {

constexpr Millis kStart{1'800'000'000'000};  // in 2027; transcripts treat earlier times as past
constexpr uint64_t kSeed = 1;
constexpr Micros kTickBudget{1'000'000};
constexpr Millis kNodeTick{100};

Host HostOf(Engine& engine, EnginePeer::Stopwatch stopwatch) {
  return {
      .apply = [](const Settings&) { return absl::OkStatus(); },
      .stopwatch = std::move(stopwatch),
      .wall_clock = [&engine] { return Micros(engine.store().now()); },
      .sleep =
          [&engine](Micros time) {
            engine.executor().AdvanceTo(engine.store().now() +
                                        std::chrono::duration_cast<Millis>(time));
          },
      .free_in_background = [](const std::shared_ptr<void>&) {},
      .executable = {},
      .config_file = {},
  };
}

}  // namespace

// Plays the part of the server's session, without a socket.
class EnginePeer::Connection {
 public:
  explicit Connection(Engine& engine)
      : engine_(engine),
        client_(engine.clients().NextId(), "127.0.0.1:50000", "127.0.0.1:6379",
                engine.store().now(), [] {}) {
    engine_.clients().Attach(client_);
  }
  Connection(const Connection&) = delete;
  ~Connection() { Leave(); }

  void Arrive(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::span<char> space = parser_.Space();
      const size_t count = std::min(space.size(), bytes.size());
      std::copy_n(bytes.data(), count, space.data());
      parser_.Arrived(count);
      ApplyLimits();
      bytes.remove_prefix(count);
      RunRequests();
    }
  }

  // Stops at a command that waits. Call it again when that command may have been served. Returns
  // whether it ran any request.
  bool RunRequests() {
    bool ran = false;
    while (!ended() && !client_.IsWaiting()) {
      const RequestParser::Result result = parser_.Next();
      if (result == RequestParser::Result::kNeedMore) return ran;
      if (result == RequestParser::Result::kBroken) {
        RefuseProtocol();
        return true;
      }
      if (!std::exchange(ran, true)) engine_.executor().BeginBatch(engine_.store().now());
      if (!RunShared()) engine_.executor().Execute(client_, parser_.argv());
      if (parser_.limits().unauthenticated) ApplyLimits();
      WriteLongReply();
    }
    return ran;
  }

  std::string TakeOutput() { return std::string(std::exchange(client_.output.buffer, {}).view()); }

  // Removes the client from the engine. Its last output can still be taken.
  void Leave() {
    if (std::exchange(left_, true)) return;
    engine_.clients().Detach(client_);
    if (client_.connection.close_now) client_.output.buffer.Clear();
  }

  const Client& client() const { return client_; }

  // Returns whether the connection closes as soon as its output is taken.
  bool ended() const {
    return broken_ || client_.connection.close_after_reply || client_.connection.close_now;
  }

 private:
  // The output is not taken in between, so a reply that exceeds the client's output limit ends the
  // connection.
  void WriteLongReply() {
    while (client_.output.long_reply && !client_.connection.close_now) {
      engine_.executor().ContinueReply(client_);
      if (engine_.clients().IsStalled(client_)) client_.connection.close_now = true;
    }
  }

  // Runs every other request as in a turn that several threads share, if it may run there: the
  // replies must be the same.
  bool RunShared() {
    shares_ = !shares_;
    return shares_ && reads_.MayBegin(engine_.store().now()) && reads_.MayServe(client_) &&
           reads_.Run(client_, parser_.argv());
  }

  void ApplyLimits() {
    parser_.set_limits(RequestLimitsFor(client_, engine_.settings(), engine_.access()));
  }

  void RefuseProtocol() {
    client_.reply.Begin();
    client_.reply.Error(parser_.error());
    broken_ = true;
  }

  Engine& engine_;
  Client client_;
  RequestParser parser_;
  ConcurrentReads reads_{engine_};
  bool shares_ = false;
  bool broken_ = false;
  bool left_ = false;
};

Settings EnginePeer::OpenSettings() {
  Settings settings;
  settings.enable_debug_command = DangerousAccess::kYes;
  settings.save.points.clear();
  settings.dir = "/data";
  return settings;
}

EnginePeer::EnginePeer() : EnginePeer(OpenSettings()) {}

EnginePeer::EnginePeer(const Settings& settings, const std::string& nodes, Stopwatch stopwatch)
    : engine_(
          settings, AllCommands(), kSeed, kStart,
          HostOf(
              engine_, stopwatch != nullptr ? std::move(stopwatch) : [this] { return passed_; })),
      persistence_(engine_, files_, kNoLog),
      nodes_(nodes),
      cluster_(engine_, nodes_, network_) {
  absl::Status loaded = cluster_.Load();
  if (loaded.ok()) loaded = cluster_.OnLoaded();
  if (!loaded.ok()) {
    std::cerr << "nodes.conf: " << loaded.message() << "\n";
    std::abort();
  }
  if (settings.scripting) scripting_.emplace(engine_);
}

EnginePeer::~EnginePeer() = default;

// The connection never opens.
std::unique_ptr<zsetd::Connection> EnginePeer::NoNetwork::Connect(const Target&,
                                                                  zsetd::Connection::Owner&) {
  class Silent : public zsetd::Connection {
   public:
    Endpoints endpoints() const override { return {}; }
    OutputBuffer& output() override { return output_; }
    void Send() override {}
    size_t unsent_bytes() const override { return 0; }
    void set_receives(bool) override {}

   private:
    OutputBuffer output_;
  };
  return std::make_unique<Silent>();
}

void EnginePeer::Send(const std::string& client, std::string_view bytes) {
  std::unique_ptr<Connection>& connection = connections_[client];
  if (!connection) connection = std::make_unique<Connection>(engine_);
  connection->Arrive(bytes);
  RunAllRequests();
}

// A request of one client may end the wait of another, which then has more requests to run.
void EnginePeer::RunAllRequests() {
  bool any_ran = true;
  while (std::exchange(any_ran, false)) {
    for (const auto& [name, each] : connections_) {
      any_ran = each->RunRequests() || any_ran;
      if (each->ended()) each->Leave();
    }
  }
}

std::string EnginePeer::Receive(const std::string& client, Millis) {
  const auto at = connections_.find(client);
  if (at == connections_.end()) return {};
  std::string output = at->second->TakeOutput();
  if (at->second->ended()) connections_.erase(at);
  return output;
}

bool EnginePeer::Closed(const std::string& client) { return !connections_.contains(client); }

void EnginePeer::Pass(Millis time) {
  // A node of a cluster measures how long it has seen the others, tick by tick.
  for (; engine_.settings().cluster_enabled && time > kNodeTick; time -= kNodeTick) {
    passed_ += kNodeTick;
    engine_.executor().AdvanceTo(engine_.store().now() + kNodeTick);
    engine_.executor().Tick(kTickBudget);
  }
  passed_ += time;
  engine_.executor().AdvanceTo(engine_.store().now() + time);
  engine_.executor().Tick(kTickBudget);
  AwaitSnapshot();
  RunAllRequests();
}

void EnginePeer::HangUp(const std::string& client) {
  connections_.erase(client);
  RunAllRequests();
}

// The thread that writes the snapshot uses real time, not the time of Pass(). The snapshot does not
// continue while a script is suspended.
void EnginePeer::AwaitSnapshot() {
  while (!engine_.suspended_unit().IsOn() &&
         (persistence_.IsSaving() || persistence_.IsRewriting())) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    engine_.executor().Tick(kTickBudget);
  }
}

const Client* EnginePeer::Find(const std::string& client) const {
  const auto at = connections_.find(client);
  return at == connections_.end() ? nullptr : &at->second->client();
}

}  // namespace zsetd
