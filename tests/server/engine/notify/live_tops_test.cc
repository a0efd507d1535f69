// The elements of live tops count as memory of their subscribers, whatever changes.
#include "server/engine/notify/live_tops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/keyspace/value.h"
#include "core/util/rng.h"
#include "server/engine/engine.h"
#include "server/engine/store/edit.h"

namespace zsetd::live_tops_test {
namespace {

constexpr Millis kStart{1'800'000'000'000};
constexpr size_t kLeastPerElement = sizeof(TopElement);

Settings WithTops() {
  Settings settings;
  EXPECT_TRUE(settings.notify_keyspace_events.Read("r").ok());
  return settings;
}

class LiveTopsOfClients : public testing::Test {
 protected:
  LiveTopsOfClients() {
    for (int i = 0; i < 4; ++i) {
      const uint64_t id = engine_.clients().NextId();
      clients_.push_back(std::make_unique<Client>(id, "peer", "own", kStart, [] {}));
      engine_.clients().Attach(*clients_.back());
    }
  }
  ~LiveTopsOfClients() override {
    for (const auto& client : clients_) engine_.clients().Detach(*client);
  }

  Client& AnyClient() { return *clients_[rng_.Below(clients_.size())]; }
  std::string AnyKey() { return "key" + std::to_string(rng_.Below(3)); }

  Edit<SortedSet> Open(const std::string& key) {
    Database& database = engine_.store().database(0);
    if (Entry* const entry = database.Open(key)) return {database, *entry, KeyEvent::kZAdd};
    return {database, database.Make(key, SortedSet()), KeyEvent::kZAdd, /*is_new=*/true};
  }

  void ChangeAny() {
    Edit<SortedSet> set = Open(AnyKey());
    const std::string member(1 + rng_.Below(3000), static_cast<char>('a' + rng_.Below(26)));
    rng_.Below(3) == 0 ? set.Remove(member) : (set.Add(member, 1, AddRule()), true);
  }

  void SubscribeAny() {
    const std::string count = std::to_string(1 + rng_.Below(5));
    notifier_.Subscribe(AnyClient(), ChannelKind::kChannel, "__top@0__:" + count + ":" + AnyKey());
  }

  void UnsubscribeAny() {
    Client& client = AnyClient();
    const Client::Names& names = client.listens_to(ChannelKind::kChannel);
    if (rng_.Below(10) == 0) return notifier_.Unsubscribe(client);
    if (names.empty()) return;
    const auto at = std::next(names.begin(), static_cast<ptrdiff_t>(rng_.Below(names.size())));
    notifier_.channels().Unsubscribe(client, ChannelKind::kChannel, *at);
  }

  // Sends the messages that are due and discards them.
  void Publish() {
    engine_.executor().AdvanceTo(engine_.store().now() + LiveTops::kWindow);
    notifier_.PublishTops(Micros(1'000'000));
    for (const auto& client : clients_) client->output.buffer = OutputBuffer();
  }

  // The least number of bytes that the elements of the channel take now.
  size_t LeastBytes(const std::string& channel) {
    const TopChannel name = *ReadTopChannel(channel);
    const Entry* const entry = engine_.store().database(0).Find(name.key);
    if (entry == nullptr) return 0;
    const Top top = TopOf(entry->GetIf<SortedSet>(), name.count, name.reversed, kStart);
    size_t bytes = 0;
    for (const TopElement& each : top.elements) bytes += kLeastPerElement + each.identity().size();
    return bytes;
  }

  void CheckMemory(bool is_published) {
    for (const auto& client : clients_) {
      size_t bytes = 0;
      for (const std::string& name : client->listens_to(ChannelKind::kChannel)) {
        const size_t own = notifier_.channels().AdditionalBytes(ChannelKind::kChannel, name);
        if (is_published) {
          EXPECT_GE(own, LeastBytes(name));
        }
        EXPECT_LE(own, LiveTops::MostBytesFor(name));
        bytes += own + Channels::BytesPerName(name.size());
      }
      ASSERT_EQ(client->listening_bytes(), bytes);
    }
  }

  Rng rng_{20261};
  Engine engine_{WithTops(), {}, /*seed=*/1, kStart, Host{.stopwatch = [] { return Micros(0); }}};
  Notifier& notifier_ = engine_.notifier();
  std::vector<std::unique_ptr<Client>> clients_;
};

TEST_F(LiveTopsOfClients, CountAsTheirMemory) {
  constexpr int kSteps = 20'000;
  for (int step = 0; step < kSteps && !HasFailure(); ++step) {
    const uint64_t kind = rng_.Below(10);
    if (kind < 5) ChangeAny();
    if (kind == 5 || kind == 6) SubscribeAny();
    if (kind == 7) UnsubscribeAny();
    if (kind > 7) Publish();
    CheckMemory(/*is_published=*/kind > 7);
  }
  for (const auto& client : clients_) {
    notifier_.Unsubscribe(*client);
    EXPECT_EQ(client->listening_bytes(), 0u);
  }
}

TEST_F(LiveTopsOfClients, TakeBoundedMemoryTogether) {
  {
    Edit<SortedSet> set = Open("large");
    for (int i = 0; i < 1000; ++i) {
      set.Add(std::to_string(i) + std::string(TopElement::kShownBytes, 'x'), i, AddRule());
    }
  }
  Client& client = *clients_.front();
  for (int key = 0; key < 100; ++key) {  // 1.4 MB each
    const std::string name = "copy" + std::to_string(key);
    Database& database = engine_.store().database(0);
    const SortedSet& set = *database.Find("large")->GetIf<SortedSet>();
    database.Make(name, set.Clone());
    notifier_.Subscribe(client, ChannelKind::kChannel, "__top@0__:1000:" + name);
  }
  EXPECT_GT(client.listening_bytes(), LiveTops::kMostBytes * 9 / 10);
  EXPECT_LT(client.listening_bytes(), LiveTops::kMostBytes * 11 / 10);
}

}  // namespace
}  // namespace zsetd::live_tops_test
