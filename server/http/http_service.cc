#include "server/http/http_service.h"

#include <utility>

#include "server/http/metrics_text.h"

namespace zsetd {
namespace {

HttpResponse NotFound() {
  return {.status = 404, .body = "There are /metrics and the page at / only.\n"};
}

HttpResponse MethodNotAllowed(std::string allowed) {
  return {.status = 405,
          .body = "The method is not allowed here.\n",
          .headers = {{"Allow", std::move(allowed)}}};
}

}  // namespace

HttpService::HttpService(Engine& engine, InfoSource source, PostStep post)
    : engine_(engine),
      source_(std::move(source)),
      post_(std::move(post)),
      server_([this](HttpRequest request, HttpServer::Respond respond) {
        Handle(std::move(request), std::move(respond));
      }) {}

absl::Status HttpService::Start(const Settings& settings) {
  if (settings.metrics_port == 0) return absl::OkStatus();
  const absl::Status status =
      server_.Listen(settings.metrics_bind, static_cast<uint16_t>(settings.metrics_port));
  if (status.ok()) server_.Start();
  return status;
}

void HttpService::Handle(HttpRequest request, HttpServer::Respond respond) {
  if (request.path != "/metrics") return respond(NotFound());
  if (request.method != "GET") return respond(MethodNotAllowed("GET"));
  ServeMetrics(std::move(respond));
}

// The text is made by the server's thread: the snapshot comes back to it as a response that is not
// formatted yet.
void HttpService::ServeMetrics(HttpServer::Respond respond) {
  TakeSnapshot(engine_, source_, post_,
               [this, respond = std::move(respond)](std::unique_ptr<MetricsSnapshot> snapshot) {
                 std::shared_ptr<MetricsSnapshot> shared = std::move(snapshot);
                 server_.Run([shared, respond] {
                   respond({.content_type = "text/plain; version=0.0.4; charset=utf-8",
                            .body = MetricsText(*shared)});
                 });
               });
}

}  // namespace zsetd
