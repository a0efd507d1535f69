#include "tests/fuzz/data_check.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "core/keyspace/value.h"

namespace zsetd {
namespace {

std::string CheckSortedSet(const SortedSet& set) {
  size_t count = 0;
  std::optional<std::pair<uint64_t, std::string>> last;
  for (auto at = set.At(0); at.valid(); at.Next(), ++count) {
    const Element element = at.element();
    std::pair<uint64_t, std::string> now(ScoreCode(element.score), element.member);
    if (last && !(*last < now)) return "a sorted set is out of order";
    const std::optional<double> score = set.Score(element.member);
    if (!score || ScoreCode(*score) != now.first) return "a sorted set has lost a member";
    if (set.Rank(element.member) != count) return "a sorted set counts wrong";
    last = std::move(now);
  }
  return count == set.size() ? "" : "a sorted set reports a wrong size";
}

std::string CheckEntry(const Entry& entry) {
  const bool is_empty = entry.VisitValue([]<class T>(const T& value) {
    if constexpr (std::is_same_v<T, ByteString> || std::is_same_v<T, Stream>) {
      return false;
    } else {
      return value.empty();
    }
  });
  if (is_empty) return "a key holds an empty value";
  if (const Stream* const stream = entry.GetIf<Stream>()) stream->Check();
  const SortedSet* const set = entry.GetIf<SortedSet>();
  return set == nullptr ? "" : CheckSortedSet(*set);
}

// Checks that the counters of a client's memory match the state that the server keeps for it.
std::string CheckClient(const Client& client, const Channels& channels) {
  const Transaction& transaction = client.transaction;
  size_t watch_bytes = 0;
  for (const WatchedKey* key : transaction.watched()) {
    watch_bytes += Watches::BytesPerKey(key->name.size());
  }
  if (watch_bytes != transaction.watch_bytes()) return "the memory of watches is miscounted";
  size_t queue_bytes = 0;
  for (const QueuedCommand& queued : transaction.queue) {
    queue_bytes += queued.argv.allocated_bytes();
  }
  if (queue_bytes != transaction.queue_bytes) return "the memory of a queue is miscounted";
  size_t listening_bytes = 0;
  for (size_t kind = 0; kind < kChannelKinds; ++kind) {
    for (const std::string& name : client.listens_to(ChannelKind(kind))) {
      listening_bytes += Channels::BytesPerName(name.size());
      listening_bytes += channels.AdditionalBytes(ChannelKind(kind), name);
    }
  }
  return listening_bytes == client.listening_bytes() ? "" : "the memory of channels is miscounted";
}

}  // namespace

std::string WrongInData(Engine& engine) {
  std::string wrong;
  for (int index = 0; index < engine.store().database_count(); ++index) {
    engine.store().database(index).keys().ForEach([&](const Entry& entry) {
      if (wrong.empty()) wrong = CheckEntry(entry);
    });
  }
  for (const auto& [id, client] : engine.clients().all()) {
    if (wrong.empty()) wrong = CheckClient(*client, engine.notifier().channels());
  }
  return wrong;
}

}  // namespace zsetd
