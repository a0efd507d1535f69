#include "server/net/migration/migrator.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "protocol/resp/request_writer.h"
#include "protocol/text/number_text.h"
#include "server/engine/engine.h"
#include "server/engine/services/services.h"
#include "server/engine/support/errors.h"
#include "server/process/clock.h"

namespace zsetd {
namespace {

using Result = TargetConnection::Result;

constexpr size_t kMostCached = 16;  // of the descriptors that clients leave (MakeRoomForClients)
constexpr Micros kKeptFor = std::chrono::seconds(10);

// Texts of Redis.
constexpr std::string_view kCannotConnect = "IOERR error or timeout connecting to the client";
constexpr std::string_view kCannotWrite = "IOERR error or timeout writing to target instance";
constexpr std::string_view kCannotRead = "IOERR error or timeout reading to target instance";

}  // namespace

Migrator::Migrator(Engine& engine, boost::asio::io_context& io)
    : engine_(engine), timer_(io), installation_(engine.services().migration.Install(*this)) {}

bool Migrator::Link::LeadsTo(const Target& target, bool tls) const {
  return with_tls == tls && host == target.host && port == target.port && user == target.user &&
         password == target.password;
}

// One attempt to send all payloads on one connection.
class Migrator::Transfer {
 public:
  Transfer(const Target& target, size_t count, const Pack& pack, std::vector<size_t>& accepted)
      : target_(target), count_(count), pack_(pack), accepted_(accepted) {}

  // Returns whether the connection can still be used.
  bool Run(Link& link);

  // The error that ended the attempt; OK if all payloads were accepted.
  absl::Status status() const;

  // Whether the attempt may be repeated on another connection: this one broke before a reply to any
  // payload was read.
  bool MayRepeat() const { return broken_ && replies_ == 0; }

 private:
  bool Prepare(Link& link);
  bool Ask(Link& link, std::initializer_list<std::string_view> words);
  bool SendPayloads(TargetConnection& connection);
  bool SendPayload(TargetConnection& connection, const KeyPayload& payload);
  bool TakeReply(TargetConnection& connection);
  bool Check(Result result, std::string_view error);
  bool WriteRequest(TargetConnection& connection, std::initializer_list<std::string_view> words);

  const Target& target_;
  size_t count_;
  const Pack& pack_;
  std::vector<size_t>& accepted_;
  size_t replies_ = 0;  // to payloads
  bool broken_ = false;
  std::string_view connection_error_;
  std::string target_error_;  // the first error reply of the target
};

bool Migrator::Transfer::Run(Link& link) {
  assert(link.connection != nullptr);
  link.connection->set_timeout(target_.timeout);
  if (Prepare(link)) SendPayloads(*link.connection);
  if (!target_error_.empty()) link.database = std::nullopt;  // as in Redis: SELECT again
  return connection_error_.empty();
}

bool Migrator::Transfer::SendPayloads(TargetConnection& connection) {
  for (size_t number = 0; number < count_; ++number) {
    if (!SendPayload(connection, pack_(number))) return false;
    while (connection.HasLine()) {
      if (!TakeReply(connection)) return false;
    }
  }
  if (!Check(connection.Flush(), kCannotWrite)) return false;
  while (replies_ < count_) {
    if (!TakeReply(connection)) return false;
  }
  return true;
}

absl::Status Migrator::Transfer::status() const {
  if (!target_error_.empty()) {
    return Refusal("ERR Target instance replied with error: " + target_error_);
  }
  return connection_error_.empty() ? absl::OkStatus() : Refusal(connection_error_);
}

// Waits for the replies, so that no key is written to the wrong database.
bool Migrator::Transfer::Prepare(Link& link) {
  if (target_.password && !link.authenticated) {
    const std::string_view password = *target_.password;
    const bool is_done =
        target_.user ? Ask(link, {"AUTH", *target_.user, password}) : Ask(link, {"AUTH", password});
    if (!is_done) return false;
    link.authenticated = true;
  }
  if (link.database == target_.database) return true;
  if (!Ask(link, {"SELECT", IntegerText(target_.database)})) return false;
  link.database = target_.database;
  return true;
}

// Sends a request and returns whether the target's reply is a status such as +OK.
bool Migrator::Transfer::Ask(Link& link, std::initializer_list<std::string_view> words) {
  TargetConnection& connection = *link.connection;
  if (!WriteRequest(connection, words)) return false;
  if (!Check(connection.Flush(), kCannotWrite)) return false;
  std::string line;
  if (!Check(connection.ReadLine(line), kCannotRead)) return false;
  if (line.starts_with('+')) return true;
  if (line.starts_with('-')) {
    target_error_ = line.substr(1);
    return false;
  }
  return Check(Result::kBroken, kCannotRead);
}

bool Migrator::Transfer::SendPayload(TargetConnection& connection, const KeyPayload& payload) {
  const std::string time = IntegerText(payload.time_to_live.count());
  const std::string_view name = target_.asks ? "RESTORE-ASKING" : "RESTORE";
  if (target_.replaces) {
    return WriteRequest(connection, {name, payload.key, time, payload.dump, "REPLACE"});
  }
  return WriteRequest(connection, {name, payload.key, time, payload.dump});
}

// Reads the reply to one payload. Any reply other than a status or an error does not confirm that
// the target has the key, so the connection counts as broken.
bool Migrator::Transfer::TakeReply(TargetConnection& connection) {
  std::string line;
  if (!Check(connection.ReadLine(line), kCannotRead)) return false;
  const bool is_known = line.starts_with('+') || line.starts_with('-');
  if (!is_known || replies_ == count_) return Check(Result::kBroken, kCannotRead);
  if (line.front() == '+') accepted_.push_back(replies_);
  if (line.front() == '-' && target_error_.empty()) target_error_ = line.substr(1);
  ++replies_;
  return true;
}

bool Migrator::Transfer::Check(Result result, std::string_view error) {
  if (result == Result::kDone) return true;
  broken_ = result == Result::kBroken;
  connection_error_ = error;
  return false;
}

// A payload can be large: it is not copied.
bool Migrator::Transfer::WriteRequest(TargetConnection& connection,
                                      std::initializer_list<std::string_view> words) {
  OutputBuffer line;
  RequestWriter request(line);
  request.Begin(words.size());
  Result result = Result::kDone;
  for (const std::string_view word : words) {
    request.StartWord(word.size());
    if (result == Result::kDone) result = connection.Write(line.view());
    if (result == Result::kDone) result = connection.Write(word);
    line.Clear();
    request.EndWord();
  }
  if (result == Result::kDone) result = connection.Write(line.view());
  return Check(result, kCannotWrite);
}

// Retries once if the connection breaks before the first reply: the target may have closed it since
// its last use, or may have restarted.
absl::Status Migrator::Send(const Target& target, size_t count, const Pack& pack,
                            std::vector<size_t>& accepted) {
  for (bool may_repeat = true;; may_repeat = false) {
    std::unique_ptr<Link> link = TakeCached(target);
    if (link == nullptr) {
      if (absl::Status opened = Open(target, link); !opened.ok()) return opened;
    }
    Transfer transfer(target, count, pack, accepted);
    if (transfer.Run(*link)) Keep(std::move(link));
    if (!may_repeat || !transfer.MayRepeat()) return transfer.status();
  }
}

absl::Status Migrator::Open(const Target& target, std::unique_ptr<Link>& link) const {
  const Settings& settings = engine_.settings();
  TlsContext tls;
  if (settings.tls_cluster) {
    if (absl::Status made = MakeTlsClientContext(settings, tls); !made.ok()) {
      return Refusal("IOERR TLS: " + std::string(ErrorLine(made)));
    }
  }
  Result result = Result::kDone;
  auto connection = TargetConnection::Open(target.host, target.port, target.timeout, tls, result);
  if (result == Result::kBroken) return Refusal(kCannotWrite);  // as in Redis if it is refused
  if (result != Result::kDone) return Refusal(kCannotConnect);
  link = std::make_unique<Link>(Link{.host = std::string(target.host),
                                     .port = std::string(target.port),
                                     .user = {},
                                     .password = {},
                                     .with_tls = settings.tls_cluster,
                                     .connection = std::move(connection),
                                     .database = {}});
  if (target.user) link->user = *target.user;
  if (target.password) link->password = *target.password;
  return absl::OkStatus();
}

// Returns null if there is no such connection, or the target has closed it.
std::unique_ptr<Migrator::Link> Migrator::TakeCached(const Target& target) {
  const auto found = std::ranges::find_if(cached_, [&](const auto& link) {
    return link->LeadsTo(target, engine_.settings().tls_cluster);
  });
  if (found == cached_.end()) return nullptr;
  std::unique_ptr<Link> link = std::move(*found);
  cached_.erase(found);
  return link->connection->IsStale() ? nullptr : std::move(link);
}

void Migrator::Keep(std::unique_ptr<Link> link) {
  assert(cached_.size() <= kMostCached);
  if (cached_.size() == kMostCached) cached_.erase(cached_.begin());
  link->last_used = MonotonicNow();
  cached_.push_back(std::move(link));
  if (!timer_runs_) AwaitIdle();
}

// Starts the timer for the connection that has been idle longest. The timer is not changed when
// that connection is used: it may end too early, and is started again.
void Migrator::AwaitIdle() {
  assert(!cached_.empty());
  timer_runs_ = true;
  timer_.expires_after(cached_.front()->last_used + kKeptFor - MonotonicNow());
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) CloseIdle();
  });
}

void Migrator::CloseIdle() {
  timer_runs_ = false;
  const Micros now = MonotonicNow();
  std::erase_if(cached_, [&](const auto& link) { return now - link->last_used >= kKeptFor; });
  if (!cached_.empty()) AwaitIdle();
}

}  // namespace zsetd
