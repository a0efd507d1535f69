#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "server/cluster/cluster_service.h"
#include "server/cluster/nodes_file.h"
#include "server/engine/engine.h"
#include "server/engine/support/connector.h"
#include "server/persistence/persistence_service.h"
#include "server/scripting/scripting_service.h"
#include "tests/support/memory_files.h"
#include "tests/transcript/transcript_player.h"

namespace zsetd {

// An engine in this process, without sockets. Its clock moves only by Pass() and DEBUG SLEEP, so
// its replies do not depend on the speed of the test.
class EnginePeer : public Peer {
 public:
  // The settings that transcripts need.
  static Settings OpenSettings();

  using Stopwatch = std::function<Micros()>;

  // `nodes` is the text of nodes.conf, for a node of a cluster; empty: it starts without one.
  // Commands and scripts measure their time with the stopwatch. By default only Pass() advances it,
  // so commands take no time, and an endless script never ends. Nodes of clusters need the default.
  EnginePeer();
  explicit EnginePeer(const Settings& settings, const std::string& nodes = {},
                      Stopwatch stopwatch = {});
  ~EnginePeer() override;

  void Send(const std::string& client, std::string_view bytes) override;
  std::string Receive(const std::string& client, Millis patience) override;
  bool Closed(const std::string& client) override;
  void Pass(Millis time) override;

  // Disconnects the client, even if it has unread output or waits. Does nothing if it is not
  // connected.
  void HangUp(const std::string& client);

  Engine& engine() { return engine_; }

  // The persistence of the data, and the disk that it uses. Snapshots are at dir/dbfilename.
  PersistenceService& persistence() { return persistence_; }
  MemoryFiles& files() { return files_; }

  // Returns the engine's client; null if it is not connected. Valid until the next call.
  const Client* Find(const std::string& client) const;

 private:
  class Connection;

  // A nodes.conf in memory.
  class MemoryNodes : public NodesStorage {
   public:
    explicit MemoryNodes(std::string text) : text_(std::move(text)) {}
    absl::StatusOr<std::optional<std::string>> Load() override {
      return text_.empty() ? std::nullopt : std::optional(text_);
    }
    absl::Status Save(std::string_view text, bool) override {
      text_ = text;
      return absl::OkStatus();
    }

   private:
    std::string text_;
  };

  // A network without other servers.
  class NoNetwork : public Connector {
   public:
    std::unique_ptr<zsetd::Connection> Connect(const Target& target,
                                               zsetd::Connection::Owner& owner) override;
  };

  void RunAllRequests();
  void AwaitSnapshot();

  Micros passed_{0};
  MemoryFiles files_;
  Engine engine_;
  std::optional<ScriptingService> scripting_;  // nullopt if the setting `scripting` is no
  PersistenceService persistence_;
  MemoryNodes nodes_;
  NoNetwork network_;
  ClusterService cluster_;
  std::map<std::string, std::unique_ptr<Connection>> connections_;  // the connected clients
};

}  // namespace zsetd
