#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "server/engine/config/settings.h"
#include "server/engine/engine.h"
#include "server/http/http_server.h"
#include "server/http/login_throttle.h"
#include "server/http/main_thread.h"
#include "server/http/metrics_snapshot.h"

namespace zsetd {

// What `metrics-port` serves:
//
//   GET  /metrics        the figures in Prometheus's format; to every client that can connect and
//                        whose URL has an address or a name in `metrics-hosts`
//   GET  / and its files the page: files of our own, without any data
//   POST /api/commands   read-only commands, as an ACL user with a password (page_commands.h)
//
// Requests are read and replies formatted on a thread of its own; what concerns the data is done in
// short steps on the thread of the commands.
class HttpService {
 public:
  // `engine` outlives it. Steps that were posted and not run may be dropped, or run later.
  HttpService(Engine& engine, InfoSource source, PostStep post);

  // Listens and starts to serve; nothing if metrics-port is 0.
  absl::Status Start(const Settings& settings);

 private:
  void Handle(HttpRequest request, HttpServer::Respond respond);
  void ServeMetrics(HttpServer::Respond respond);
  bool IsOwnName(std::string_view host) const;
  void ServeCommands(const HttpRequest& request, HttpServer::Respond respond);

  Engine& engine_;
  InfoSource source_;
  PostStep post_;
  std::vector<std::string> hosts_;  // metrics-hosts
  LoginThrottle throttle_;          // for the server's thread alone
  HttpServer server_;               // last: its thread uses the others
};

}  // namespace zsetd
