#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "server/engine/config/settings.h"
#include "server/engine/engine.h"
#include "server/http/figure_history.h"
#include "server/http/http_server.h"
#include "server/http/login_throttle.h"
#include "server/http/main_thread.h"
#include "server/http/metrics_snapshot.h"
#include "server/http/page_commands.h"

namespace zsetd {

// The service at `metrics-port`:
//
//   GET  /metrics        the figures in Prometheus's format, for every client that can connect. The
//                        URL must contain an address, or a name in `metrics-hosts`
//   GET  /healthz        200 if the thread of the commands advances
//   GET  /readyz         200 if the server also has its data, and a replica its master; else 503
//   GET  / and its files the page: static files, without any data
//   POST /api/commands   read-only commands, as an ACL user with a password (page_commands.h)
//   POST /api/history    the figures of the last hour (figure_history.h), for a user that may run
//   INFO
//
// A request without a login is one of the default user, if that user needs no password.
//
// A separate thread reads requests and formats responses. Work on the data runs in short steps on
// the thread of the commands.
class HttpService {
 public:
  // `engine` outlives this object. Posted steps that have not run may be dropped, or may run later.
  HttpService(Engine& engine, InfoSource source, PostStep post);

  // Listens and starts to serve. Does nothing if `metrics-port` is 0.
  absl::Status Start(const Settings& settings);

 private:
  void Handle(HttpRequest request, HttpServer::Respond respond);
  void ServeProbe(bool asks_for_readiness, HttpServer::Respond respond);
  void ServeMetrics(HttpServer::Respond respond);
  bool IsOwnName(std::string_view host) const;
  void ServeCommands(const HttpRequest& request, HttpServer::Respond respond);
  void ServeHistory(const HttpRequest& request, HttpServer::Respond respond);

  // Runs the commands of `page` as the user of `request`. Calls `format` on the server's thread for
  // the response. Refuses the request if its type or its login is wrong.
  using Format = std::function<HttpResponse(const PageReplies&)>;
  void RunAsUser(const HttpRequest& request, std::vector<std::vector<std::string>> commands,
                 Format format, HttpServer::Respond respond);
  void TakeSample();

  Engine& engine_;
  InfoSource source_;
  PostStep post_;
  std::vector<std::string> hosts_;  // the names in `metrics-hosts`
  LoginThrottle throttle_;          // used by the server's thread only
  FigureHistory history_;           // used by the server's thread only
  bool is_sampling_ = false;        // used by the server's thread only
  HttpServer server_;               // must be last: its thread uses the other members
};

}  // namespace zsetd
