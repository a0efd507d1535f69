#include "tests/fuzz/script_run.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "server/engine/arg_reader.h"
#include "server/engine/command.h"
#include "tests/fuzz/reply_split.h"

namespace zsetd {
namespace {

Settings SmallSettings() {
  Settings settings;
  settings.proto_max_bulk_len = 1 << 20;  // so that no command makes values of gigabytes
  settings.databases = 4;
  settings.client_output_buffer_limit.normal.hard_bytes = 8 << 20;  // nor replies without end
  return settings;
}

// Whether each request of the client has just one answer, and nothing else is told to it.
bool IsPlain(const Client* client) {
  if (client == nullptr) return true;  // it is going to connect
  return !client->IsWaiting() && !client->IsSubscriber() && !client->monitors &&
         !client->tracking.on && client->reply_mode == Client::ReplyMode::kOn;
}

// UNSUBSCRIBE and its kin answer once for each channel, even to who listens to none.
bool AnswersOnce(std::string_view command) {
  constexpr std::string_view kMany = "subscribe";
  return command.size() < kMany.size() ||
         !EqualsIgnoringCase(command.substr(command.size() - kMany.size()), kMany);
}

bool QueueAnswersOnce(const Client* client) {
  return client == nullptr ||
         std::ranges::all_of(client->transaction.queue, [](const QueuedCommand& queued) {
           return AnswersOnce(queued.command->name);
         });
}

std::string CheckSortedSet(const SortedSet& set) {
  size_t count = 0;
  std::optional<std::pair<double, std::string>> last;
  for (auto at = set.At(0); at.valid(); at.Next(), ++count) {
    const Element element = at.element();
    std::pair<double, std::string> now(element.score, element.member);
    if (last && !(*last < now)) return "a sorted set is out of order";
    if (set.Score(element.member) != element.score) return "a sorted set has lost a member";
    if (set.Rank(element.member) != count) return "a sorted set counts wrong";
    last = std::move(now);
  }
  return count == set.size() ? "" : "a sorted set tells a wrong size";
}

std::string CheckEntry(const Entry& entry) {
  const bool is_empty = entry.VisitValue([]<class T>(const T& value) {
    if constexpr (std::is_same_v<T, ByteString>) {
      return false;
    } else {
      return value.empty();
    }
  });
  if (is_empty) return "a key holds an empty value";
  const SortedSet* const set = entry.GetIf<SortedSet>();
  return set == nullptr ? "" : CheckSortedSet(*set);
}

}  // namespace

ScriptRun::ScriptRun() : peer_(SmallSettings()) {}

std::string ScriptRun::Play(const Script& script) {
  for (const FuzzStep& step : script) {
    std::string wrong;
    if (step.client.empty()) {
      peer_.Pass(step.time);
      wrong = HearAll();
    } else {
      wrong = Send(step);
    }
    if (!wrong.empty()) return wrong;
  }
  return CheckData();
}

std::string ScriptRun::Send(const FuzzStep& step) {
  const Client* const before = peer_.Find(step.client);
  if (before == nullptr) speaks_whole_[step.client] = true;
  bool counts =
      IsPlain(before) && step.IsRequest() && AnswersOnce(step.words[0]) && QueueAnswersOnce(before);
  counts = counts && speaks_whole_[step.client];
  if (!step.IsRequest()) speaks_whole_[step.client] = false;
  peer_.Send(step.client, step.Sent());
  const Client* const after = peer_.Find(step.client);
  const bool waits = after->IsWaiting();
  counts = counts && (waits || IsPlain(after)) && !after->close_now;
  if (std::string wrong = HearAll(); !wrong.empty()) return wrong;
  const size_t wanted = waits ? 0 : 1;
  if (!counts || answers_[step.client] == wanted) return "";
  return std::to_string(answers_[step.client]) + " answers to " + ScriptText({step});
}

std::string ScriptRun::HearAll() {
  answers_.clear();
  for (const auto& [client, whole] : speaks_whole_) {
    const std::string heard = peer_.Receive(client, Millis(0));
    const auto replies = SplitReplies(heard);
    if (!replies) return "malformed replies to " + client + ": " + heard;
    for (const std::string_view reply : *replies) answers_[client] += reply.front() != '>';
  }
  return "";
}

std::string ScriptRun::CheckData() {
  std::string wrong;
  for (int index = 0; index < peer_.engine().database_count(); ++index) {
    peer_.engine().database(index).keys().ForEach([&](const Entry& entry) {
      if (wrong.empty()) wrong = CheckEntry(entry);
    });
  }
  return wrong;
}

}  // namespace zsetd
