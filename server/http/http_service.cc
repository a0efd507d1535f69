#include "server/http/http_service.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <utility>

#include "server/engine/support/ascii_case.h"
#include "server/engine/support/split.h"
#include "server/http/health.h"
#include "server/http/history_sample.h"
#include "server/http/metrics_text.h"
#include "server/http/page_files.h"
#include "server/http/page_json.h"
#include "server/process/clock.h"

namespace zsetd {
namespace {

// The page may load and request only files and data of this server. No other page may frame it.
constexpr std::string_view kContentPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// A sample is taken at the start, too, so that the first point is known after this time.
constexpr std::chrono::seconds kFirstSample{1};

HttpResponse Found(const PageFile& file) {
  return {.content_type = std::string(file.content_type),
          .body = std::string(file.bytes),
          .headers = {{"Content-Security-Policy", std::string(kContentPolicy)},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cache-Control", "no-cache"}}};
}

HttpResponse Json(unsigned status, std::string body) {
  HttpResponse response = {.status = status,
                           .content_type = "application/json",
                           .body = std::move(body),
                           .headers = {{"Cache-Control", "no-store"}}};
  // Browsers do not know this scheme, so they show no login dialog. The page has a form of its own.
  if (status == 401) response.headers.emplace_back("WWW-Authenticate", "zsetd");
  return response;
}

HttpResponse JsonError(unsigned status, std::string_view why) {
  return Json(status, "{\"error\":\"" + std::string(why) + "\"}");
}

// Rounds up to whole seconds, so that the next login after them is allowed.
HttpResponse TooManyFailures(Micros wait) {
  const std::string seconds = std::to_string(std::chrono::ceil<std::chrono::seconds>(wait).count());
  HttpResponse response =
      JsonError(429, "Too many logins of this user have failed. Wait " + seconds + " s.");
  response.headers.emplace_back("Retry-After", seconds);
  return response;
}

// Returns the host of a Host header, without its port and the brackets of IPv6.
std::string_view WithoutPort(std::string_view host) {
  return host.starts_with('[') ? host.substr(1, host.find(']') - 1)
                               : host.substr(0, host.find(':'));
}

bool IsAddress(std::string_view host) {
  boost::system::error_code error;
  boost::asio::ip::make_address(std::string(host), error);
  return !error;
}

HttpResponse UnknownHost() {
  return {.status = 403,
          .body = "The URL must contain an address, localhost, or a name in metrics-hosts.\n"};
}

HttpResponse ResponseTo(const PageReplies& replies) {
  switch (replies.access) {
    case PageReplies::Access::kDenied:
      return JsonError(401, "The user or the password is wrong.");
    case PageReplies::Access::kProtected:
      return JsonError(403,
                       "This user needs no password. Set one, or connect from this machine with a "
                       "URL that contains its address, localhost, or a name in metrics-hosts.");
    case PageReplies::Access::kGranted:
      break;
  }
  return Json(200, PageRepliesJson(replies.replies));
}

HttpResponse NotFound() {
  return {.status = 404, .body = "Only /metrics, /healthz, /readyz and the page at / exist.\n"};
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
  for (const std::string_view name : Split(settings.metrics_hosts, ' ')) hosts_.emplace_back(name);
  const absl::Status status =
      server_.Listen(settings.metrics_bind, static_cast<uint16_t>(settings.metrics_port));
  if (!status.ok()) return status;
  TakeSample();
  server_.Repeat(kFirstSample, FigureHistory::kInterval, [this] { TakeSample(); });
  return server_.Start();
}

void HttpService::Handle(HttpRequest request, HttpServer::Respond respond) {
  const bool asks_for_history = request.path == "/api/history";
  if (request.path == "/api/commands" || asks_for_history) {
    if (request.method != "POST") return respond(MethodNotAllowed("POST"));
    return asks_for_history ? ServeHistory(request, std::move(respond))
                            : ServeCommands(request, std::move(respond));
  }
  const bool is_probe = request.path == "/healthz" || request.path == "/readyz";
  const auto file = std::ranges::find(PageFiles(), request.path, &PageFile::path);
  if (file == PageFiles().end() && request.path != "/metrics" && !is_probe) {
    return respond(NotFound());
  }
  if (request.method != "GET") return respond(MethodNotAllowed("GET"));
  if (file != PageFiles().end()) return respond(Found(*file));
  if (is_probe) return ServeProbe(request.path == "/readyz", std::move(respond));
  if (!IsOwnName(request.host)) return respond(UnknownHost());
  ServeMetrics(std::move(respond));
}

// Whether the Host header names this server. A web site can make its own name resolve to this
// machine (DNS rebinding), and its scripts could then read the responses. Every browser sends the
// header.
bool HttpService::IsOwnName(std::string_view host) const {
  const std::string_view name = WithoutPort(host);
  if (host.empty() || IsAddress(name) || EqualsIgnoringCase(name, "localhost")) return true;
  return std::ranges::any_of(hosts_, [&](const std::string& known) {
    return known == "*" || EqualsIgnoringCase(known, name);
  });
}

void HttpService::ServeCommands(const HttpRequest& request, HttpServer::Respond respond) {
  auto commands = ReadPageCommands(request.body);
  RunAsUser(request, commands ? std::move(*commands) : std::vector<std::vector<std::string>>(),
            ResponseTo, std::move(respond));
}

// A user that may run INFO may see what INFO reported in the last hour.
void HttpService::ServeHistory(const HttpRequest& request, HttpServer::Respond respond) {
  const auto format = [this](const PageReplies& replies) {
    if (replies.access != PageReplies::Access::kGranted) return ResponseTo(replies);
    const bool is_refused = replies.replies.front().starts_with('-');
    return is_refused ? JsonError(400, "This user may not run INFO.") : Json(200, history_.Json());
  };
  RunAsUser(request, {{"INFO", "server"}}, format, std::move(respond));
}

// Requires JSON: a page of another site can send JSON only after the browser has asked this server
// for permission, which it does not give.
void HttpService::RunAsUser(const HttpRequest& request,
                            std::vector<std::vector<std::string>> commands, Format format,
                            HttpServer::Respond respond) {
  if (!request.content_type.starts_with("application/json")) {
    return respond(JsonError(415, "The body must be application/json."));
  }
  const bool has_login = !request.authorization.empty();
  const auto credentials =
      has_login ? ReadCredentials(request.authorization) : Credentials{"default", ""};
  if (!credentials) return respond(JsonError(401, "Log in as an ACL user."));
  const LoginThrottle::Login login(request.origin, credentials->user);
  const Micros wait = has_login ? throttle_.WaitFor(login, MonotonicNow()) : Micros(0);
  if (wait > Micros(0)) return respond(TooManyFailures(wait));
  if (commands.empty()) {
    return respond(JsonError(400, "The body does not contain a list of commands."));
  }
  auto page = std::make_shared<PageRequest>(PageRequest{.user = credentials->user,
                                                        .password = credentials->password,
                                                        .has_login = has_login,
                                                        .peer = request.peer,
                                                        .own = request.own,
                                                        .is_local = request.is_local,
                                                        .by_own_name = IsOwnName(request.host),
                                                        .commands = std::move(commands)});
  RunPageCommands(engine_, std::move(page), post_,
                  [this, respond = std::move(respond), format = std::move(format), login,
                   has_login](PageReplies replies) {
                    auto shared = std::make_shared<PageReplies>(std::move(replies));
                    server_.Run([this, respond, format, login, has_login, shared] {
                      const bool is_denied = shared->access == PageReplies::Access::kDenied;
                      if (is_denied && has_login) throttle_.OnFailure(login, MonotonicNow());
                      respond(format(*shared));
                    });
                  });
}

// Skips the sample if the thread of the commands has not taken the last one yet.
void HttpService::TakeSample() {
  if (is_sampling_) return;
  is_sampling_ = true;
  TakeHistorySample(engine_, source_, post_, [this](HistorySample sample) {
    auto shared = std::make_shared<HistorySample>(std::move(sample));
    server_.Run([this, shared] {
      history_.Add(std::move(*shared));
      is_sampling_ = false;
    });
  });
}

// Replies from the thread of the commands, so that a probe fails if that thread does not advance.
void HttpService::ServeProbe(bool asks_for_readiness, HttpServer::Respond respond) {
  post_([this, asks_for_readiness, respond = std::move(respond)] {
    const std::string reason = asks_for_readiness ? WhyNotReady(source_) : std::string();
    server_.Run([respond, reason] {
      respond({.status = reason.empty() ? 200u : 503u,
               .body = (reason.empty() ? "ok" : reason) + "\n",
               .headers = {{"Cache-Control", "no-store"}}});
    });
    return false;
  });
}

// Takes the snapshot on the thread of the commands. The server's thread formats it as text.
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
