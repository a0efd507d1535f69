// Several I/O threads as objects on one thread of the system. A seeded scheduler runs their rounds.
// Whenever a round enters or leaves the engine, the scheduler may run rounds of other threads, send
// requests and close connections. So every order of turns is possible, and a seed repeats it.
// Clients compare what they receive with a model. STEPS is the number of steps, SEED the seed.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/keyspace/value.h"
#include "server/commands/all_commands.h"
#include "server/engine/engine.h"
#include "server/net/engine_gate.h"
#include "server/net/held_replies.h"
#include "server/net/io_thread.h"
#include "server/net/session.h"
#include "server/process/clock.h"

namespace zsetd::scheduler_test {
namespace {

constexpr int kThreads = 3;
constexpr int kClients = 14;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string Request(std::initializer_list<std::string> words) {
  std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words) {
    bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  }
  return bytes;
}

// Returns the length of the reply at the start of `bytes`, or 0 if it is not complete.
size_t LengthOfReply(std::string_view bytes) {
  const size_t line = bytes.find("\r\n");
  if (line == std::string_view::npos) return 0;
  const int64_t count = std::strtoll(std::string(bytes.substr(1, line - 1)).c_str(), nullptr, 10);
  size_t length = line + 2;
  if (bytes[0] == '$' && count >= 0) length += static_cast<size_t>(count) + 2;
  if (bytes[0] == '*') {
    for (int64_t i = 0; i < count; ++i) {
      const size_t part = length > bytes.size() ? 0 : LengthOfReply(bytes.substr(length));
      if (part == 0) return 0;
      length += part;
    }
  }
  return length <= bytes.size() ? length : 0;
}

// The bulk strings and integers of a reply, in order.
std::vector<std::string> PartsOf(std::string_view reply) {
  std::vector<std::string> parts;
  while (!reply.empty()) {
    const size_t line = reply.find("\r\n");
    const char kind = reply[0];
    std::string text(reply.substr(1, line - 1));
    reply.remove_prefix(line + 2);
    if (kind == '*') continue;
    if (kind == '$' && text != "-1") {
      const size_t size = std::stoul(text);
      text = std::string(reply.substr(0, size));
      reply.remove_prefix(size + 2);
    }
    parts.push_back(text);
  }
  return parts;
}

// The requests and replies of all clients must agree with it.
struct Model {
  uint64_t pushed = 0;           // elements that were sent to the queue
  std::set<uint64_t> delivered;  // by BLPOP and LPOP
  uint64_t lost_waits = 0;       // connections that ended while a BLPOP had no reply
  uint64_t lost_pushes = 0;      // and while an RPUSH had none
  uint64_t transactions = 0;     // replies of EXEC
  uint64_t last_count = 0;       // the greatest count that one of them returned
  uint64_t messages = 0;
  uint64_t shared_reads = 0;
  std::vector<uint64_t> ids;  // of clients that may be killed
};

enum class Role : uint8_t {
  kTransactions,
  kReads,
  kProduces,
  kConsumes,
  kPublishes,
  kSubscribes,
  kKills,
  kOwn
};
constexpr std::array kRoles = {Role::kTransactions, Role::kReads,     Role::kProduces,
                               Role::kConsumes,     Role::kPublishes, Role::kSubscribes,
                               Role::kKills,        Role::kOwn};

// The other end of a session. It has one request under way at a time, or a transaction.
class TestClient {
 public:
  TestClient(int descriptor, int number, Role role, Model& model)
      : descriptor_(descriptor), number_(number), role_(role), model_(model) {}
  TestClient(const TestClient&) = delete;
  ~TestClient() { close(descriptor_); }

  bool has_ended() const { return has_ended_; }

  // Receives the arrived bytes. Then sends a part of the rest of a request, or the next request if
  // all replies have arrived.
  void Act(std::mt19937_64& rng) {
    char bytes[4096];
    for (;;) {
      const ssize_t count = recv(descriptor_, bytes, sizeof(bytes), MSG_DONTWAIT);
      if (count == 0 || (count < 0 && errno != EAGAIN)) return End();
      if (count < 0) break;
      received_.append(bytes, static_cast<size_t>(count));
    }
    while (const size_t length = LengthOfReply(received_)) {
      OnReply(received_.substr(0, length));
      received_.erase(0, length);
    }
    if (awaited_ == 0) Ask(rng);
    SendSome(rng);
  }

  // The client disconnects.
  void End() {
    has_ended_ = true;
    if (awaited_ == 0) return;
    model_.lost_waits += role_ == Role::kConsumes;
    model_.lost_pushes += role_ == Role::kProduces;
  }

 private:
  void Ask(std::mt19937_64& rng) {
    if (id_ == 0) return Send(Request({"CLIENT", "ID"}), 1);
    switch (role_) {
      case Role::kTransactions:
        return Send(Request({"MULTI"}) + Request({"INCR", "a"}) + Request({"GET", "a"}) +
                        Request({"INCR", "b"}) + Request({"EXEC"}),
                    5);
      case Role::kReads:
        return Send(Request({"MGET", "a", "b"}), 1);
      case Role::kProduces:
        return Send(Request({"RPUSH", "queue", std::to_string(++model_.pushed)}), 1);
      case Role::kConsumes:
        return Send(Request({"BLPOP", "queue", "0"}), 1);
      case Role::kPublishes:
        return Send(Request({"PUBLISH", "channel",
                             std::to_string(number_) + ":" + std::to_string(++value_)}),
                    1);
      case Role::kSubscribes:
        if (!is_subscribed_) Send(Request({"SUBSCRIBE", "channel"}), 1);
        is_subscribed_ = true;
        return;
      case Role::kKills: {
        if (rng() % 8 != 0 || model_.ids.empty()) return Send(Request({"PING"}), 1);
        const uint64_t victim = model_.ids[rng() % model_.ids.size()];
        return Send(Request({"CLIENT", "KILL", "ID", std::to_string(victim)}), 1);
      }
      case Role::kOwn: {
        const std::string key = "own" + std::to_string(number_);
        const std::string value = std::to_string(++value_);
        return Send(Request({"SET", key, value}) + Request({"GET", key}) + Request({"STRLEN", key}),
                    3);
      }
    }
  }

  void Send(const std::string& bytes, int replies) {
    awaited_ = replies;
    unsent_ = bytes;
  }

  void SendSome(std::mt19937_64& rng) {
    if (unsent_.empty()) return;
    const size_t size = rng() % 2 == 0 ? unsent_.size() : 1 + rng() % unsent_.size();
    const ssize_t count = send(descriptor_, unsent_.data(), size, MSG_NOSIGNAL);
    if (count < 0) return End();  // it was killed
    ASSERT_EQ(count, static_cast<ssize_t>(size));
    unsent_.erase(0, size);
  }

  void OnReply(const std::string& reply) {
    const std::vector<std::string> parts = PartsOf(reply);
    ASSERT_FALSE(parts.empty());
    if (role_ == Role::kSubscribes && id_ != 0 && parts[0] == "message") return OnMessage(parts);
    ASSERT_GT(awaited_, 0) << reply;
    --awaited_;
    ASSERT_NE(reply[0], '-') << reply;
    if (id_ == 0) {
      id_ = std::stoull(parts[0]);
      model_.ids.push_back(id_);
      return;
    }
    if (role_ == Role::kTransactions && awaited_ == 0) return OnTransaction(parts);
    if (role_ == Role::kReads) {
      EXPECT_EQ(parts.at(0), parts.at(1)) << "not a state between two transactions";
      ++model_.shared_reads;
    }
    if (role_ == Role::kConsumes) {
      EXPECT_TRUE(model_.delivered.insert(std::stoull(parts.at(1))).second) << parts[1];
    }
    if (role_ == Role::kOwn && awaited_ == 1) {
      EXPECT_EQ(parts[0], std::to_string(value_));
    }
  }

  void OnTransaction(const std::vector<std::string>& parts) {
    ASSERT_EQ(parts.size(), 3u);
    EXPECT_EQ(parts[0], parts[1]);
    EXPECT_EQ(parts[0], parts[2]);
    const uint64_t count = std::stoull(parts[0]);
    ++model_.transactions;
    EXPECT_GT(count, last_count_);
    last_count_ = count;
    model_.last_count = std::max(model_.last_count, count);
  }

  // The messages of each publisher arrive in order, and none is left out.
  void OnMessage(const std::vector<std::string>& parts) {
    const size_t colon = parts.at(2).find(':');
    const int publisher = std::stoi(parts[2].substr(0, colon));
    const uint64_t message = std::stoull(parts[2].substr(colon + 1));
    uint64_t& last = last_messages_[publisher];
    if (last != 0) {
      EXPECT_EQ(message, last + 1);
    }
    last = message;
    ++model_.messages;
  }

  const int descriptor_;
  const int number_;
  const Role role_;
  Model& model_;
  std::string received_;
  std::string unsent_;
  int awaited_ = 0;  // replies
  uint64_t id_ = 0;
  bool is_subscribed_ = false;
  bool has_ended_ = false;
  uint64_t value_ = 0;
  uint64_t last_count_ = 0;
  std::map<int, uint64_t> last_messages_;  // by publisher
};

class SchedulerTest : public testing::Test {
 protected:
  SchedulerTest() {
    for (int i = 0; i < kThreads; ++i) {
      threads_.push_back(std::make_unique<IoThread>(i, engine_, gate_, [](Micros) {}));
    }
    held_replies_ = std::make_shared<HeldReplies>(threads_[0]->poller(), log_signal_);
    for (const auto& thread : threads_) thread->poller().Disown();
    is_running_.resize(kThreads);
  }

  static Settings TestSettings() {
    Settings settings;
    settings.io_threads = kThreads;
    settings.save.points.clear();
    return settings;
  }

  static Host TestHost() {
    Host host;
    host.stopwatch = [] { return MonotonicNow(); };
    host.wall_clock = [] { return UnixNowExactly(); };
    return host;
  }

  // Runs a function as that thread.
  template <class Run>
  void As(int thread, Run run) {
    const int before = std::exchange(current_, thread);
    if (before >= 0) threads_[before]->poller().Disown();
    threads_[thread]->poller().Adopt();
    run(*threads_[thread]);
    threads_[thread]->poller().Disown();
    current_ = before;
    if (before >= 0) threads_[before]->poller().Adopt();
  }

  void RunRound(int thread) {
    is_running_[thread] = true;
    As(thread, [](IoThread& each) { each.RunRound(Micros(0)); });
    is_running_[thread] = false;
  }

  // Called whenever a round enters or leaves the engine.
  void Interleave() {
    if (!interleaves_) return;
    while (rng_() % 2 == 0) Step();
  }

  void Step() {
    ++steps_;
    const uint64_t choice = rng_() % 100;
    if (choice < 40) {
      const int thread = static_cast<int>(rng_() % kThreads);
      if (!is_running_[thread]) RunRound(thread);
    } else if (choice < 98 || clients_.empty()) {
      if (!clients_.empty()) clients_[rng_() % clients_.size()]->Act(rng_);
    } else {
      clients_[rng_() % clients_.size()]->End();
    }
  }

  void ReplaceEndedClients() {
    std::erase_if(clients_, [](const auto& client) { return client->has_ended(); });
    while (clients_.size() < kClients) Connect(kRoles[++connected_ % kRoles.size()]);
  }

  // As the main thread does it: the session may belong to any thread.
  void Connect(Role role) {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    clients_.push_back(std::make_unique<TestClient>(ends[1], connected_, role, model_));
    As(0, [&](IoThread& main) {
      main.Enter();
      StreamSocket socket(io_, StreamProtocol(AF_UNIX, SOCK_STREAM), ends[0]);
      IoThread& thread = *threads_[rng_() % kThreads];
      auto session = std::make_shared<Session>(
          std::move(socket), nullptr, main.port().NextClientId(), main.port().now(), thread, kNoLog,
          *held_replies_, [this](Session& ended) { sessions_.erase(ended.shared_from_this()); });
      sessions_.insert(session);
      session->Start(main.port());
      main.Leave();
    });
  }

  // The elements that are still in the queue.
  std::vector<std::string> Queue() {
    std::vector<std::string> elements;
    const Entry* const entry = engine_.store().database(0).Find("queue");
    const List* const list = entry == nullptr ? nullptr : entry->GetIf<List>();
    for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
      elements.emplace_back(list->At(i));
    }
    return elements;
  }

  const uint64_t seed_ = FromEnvironment("SEED", std::random_device()());
  std::mt19937_64 rng_{seed_};
  uint64_t steps_ = 0;
  bool interleaves_ = false;
  boost::asio::io_context io_{1};
  Engine engine_{TestSettings(), AllCommands(), 1, UnixNow(), TestHost()};
  WakeSignal log_signal_;
  EngineGate gate_{[this] { Interleave(); }};
  std::vector<std::unique_ptr<IoThread>> threads_;
  std::vector<bool> is_running_;
  int current_ = -1;
  std::shared_ptr<HeldReplies> held_replies_;
  std::set<std::shared_ptr<Session>> sessions_;
  Model model_;
  std::vector<std::unique_ptr<TestClient>> clients_;
  int connected_ = 0;
};

TEST_F(SchedulerTest, ClientsSeeWhatTheModelPermitsInEveryOrderOfTurns) {
  SCOPED_TRACE("SEED=" + std::to_string(seed_));
  const uint64_t steps = FromEnvironment("STEPS", 15'000);
  while (steps_ < steps && !HasFailure()) {
    ReplaceEndedClients();
    interleaves_ = true;
    Step();
    interleaves_ = false;
    if (model_.ids.size() > 2 * kClients) model_.ids.erase(model_.ids.begin());
  }
  EXPECT_GT(model_.transactions, steps / 1000);
  EXPECT_LE(model_.transactions, model_.last_count);
  EXPECT_GT(model_.shared_reads, steps / 1000);
  EXPECT_GT(model_.messages, steps / 1000);
  EXPECT_GT(model_.delivered.size(), steps / 1000);
  EXPECT_GT(threads_[1]->SharedStatus().requests, 0u);

  // All connections end. Nothing of them remains.
  for (const auto& client : clients_) client->End();
  clients_.clear();
  for (int round = 0; round < 10; ++round) {
    for (int thread = 0; thread < kThreads; ++thread) RunRound(thread);
  }
  EXPECT_TRUE(sessions_.empty());
  EXPECT_TRUE(engine_.clients().all().empty());
  EXPECT_EQ(engine_.notifier().blocked_clients().count(), 0u);

  // Each element was delivered once, or is still in the queue, or was lost with a connection.
  for (const std::string& element : Queue()) {
    EXPECT_TRUE(model_.delivered.insert(std::stoull(element)).second) << element;
  }
  EXPECT_LE(model_.delivered.size(), model_.pushed);
  EXPECT_GE(model_.delivered.size() + model_.lost_waits + model_.lost_pushes, model_.pushed);
}

}  // namespace
}  // namespace zsetd::scheduler_test
