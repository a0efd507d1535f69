#include "tests/fuzz/fuzz_run.h"

#include <algorithm>
#include <span>
#include <vector>

#include "protocol/resp/request_parser.h"
#include "server/engine/command/command.h"
#include "server/engine/services/scripting.h"
#include "server/engine/support/ascii_case.h"
#include "tests/fuzz/data_check.h"
#include "tests/fuzz/reply_split.h"

namespace zsetd {
namespace {

constexpr Micros kTimeOfReading{100};  // how far each reading of the stopwatch advances it
constexpr size_t kMostSlices = 100;

Settings SmallSettings() {
  Settings settings;
  settings.proto_max_bulk_len = 1 << 20;  // so that no command makes values of gigabytes
  settings.databases = 4;
  settings.client_output_buffer_limit.normal.hard_bytes = 1 << 20;  // nor replies without end
  settings.busy_reply_threshold = 200;
  return settings;
}

// Returns whether each request of the client gets exactly one reply, and the client receives
// nothing else.
bool IsPlain(const Client* client) {
  if (client == nullptr) return true;  // it is going to connect
  return !client->IsWaiting() && !client->IsSubscriber() && !client->monitors() &&
         !client->tracking().on && client->output.reply_mode == ClientOutput::ReplyMode::kOn;
}

// UNSUBSCRIBE and similar commands reply once per channel, even to a client that has no
// subscription. SHUTDOWN replies only if it is refused, and REPLCONF not to an acknowledgement.
bool AnswersOnce(std::string_view command) {
  constexpr std::string_view kMany = "subscribe";
  if (EqualsIgnoringCase(command, "shutdown")) return false;
  if (EqualsIgnoringCase(command, "replconf")) return false;
  return command.size() < kMany.size() ||
         !EqualsIgnoringCase(command.substr(command.size() - kMany.size()), kMany);
}

bool QueueAnswersOnce(const Client* client) {
  return client == nullptr ||
         std::ranges::all_of(client->transaction.queue, [](const QueuedCommand& queued) {
           return AnswersOnce(queued.command->name);
         });
}

// Returns no request if the bytes are not complete requests.
std::vector<std::vector<std::string>> SplitRequests(std::string_view bytes) {
  RequestParser parser;
  std::vector<std::vector<std::string>> requests;
  for (;;) {
    while (parser.Next() == RequestParser::Result::kRequest) {
      requests.emplace_back(parser.argv().begin(), parser.argv().end());
    }
    if (bytes.empty() || !parser.error().empty()) break;
    const std::span<char> space = parser.Space();
    const size_t size = std::min(space.size(), bytes.size());
    std::ranges::copy(bytes.substr(0, size), space.begin());
    parser.Arrived(size);
    bytes.remove_prefix(size);
  }
  const bool is_whole = parser.error().empty() && parser.buffered_bytes() == 0;
  return is_whole ? requests : std::vector<std::vector<std::string>>();
}

// Checks that no state of clients outlives them.
std::string LeftBehind(Engine& engine) {
  const Tracking& tracking = engine.notifier().tracking();
  if (!engine.clients().all().empty()) return "a client that has disconnected is still known";
  if (engine.clients().pause().postponed() + engine.executor().overdue().size() +
          engine.notifier().blocked_clients().count() +
          engine.notifier().blocked_clients().key_count() >
      0)
    return "a wait remains";
  if (engine.notifier().watches().key_count() > 0) return "a watch remains";
  if (tracking.client_count() + tracking.prefix_count() > 0) return "tracking remains";
  return tracking.table().key_count() > 0 ? "tracked keys remain" : "";
}

}  // namespace

FuzzRun::FuzzRun() : peer_(SmallSettings(), {}, [this] { return stopwatch_ += kTimeOfReading; }) {
  peer_.engine().effects().set_log(&units_);
}

FuzzRun::~FuzzRun() { peer_.engine().effects().set_log(nullptr); }

uint64_t FuzzRun::UnitCheck::Append(OutputBuffer& unit) {
  OutputBuffer taken;
  taken.Take(unit);
  const std::vector<std::vector<std::string>> requests = SplitRequests(taken.view());
  size_t commands = 0;
  bool framed = false;
  bool ended = false;
  bool sound = !requests.empty();
  for (const std::vector<std::string>& request : requests) {
    const bool is_multi = EqualsIgnoringCase(request[0], "multi");
    const bool is_exec = EqualsIgnoringCase(request[0], "exec");
    if (is_multi) sound = sound && !framed && commands == 0;
    if (is_exec) sound = sound && framed && !ended;
    if (!is_multi && !is_exec) sound = sound && !ended;
    framed = framed || is_multi;
    ended = ended || is_exec;
    commands += !is_multi && !is_exec && !EqualsIgnoringCase(request[0], "select");
  }
  sound = sound && framed == ended && (commands == 1 || framed);
  if (!sound && wrong_.empty()) wrong_ = "propagated: " + std::string(taken.view());
  return ++units_;
}

std::string FuzzRun::Play(const FuzzScript& script) {
  for (const FuzzStep& step : script) {
    std::string wrong;
    if (step.client.empty()) {
      peer_.Pass(step.time);
      wrong = EndsScript() ? HearAll() : "";
    } else {
      wrong = Send(step);
    }
    if (!wrong.empty()) return wrong;
    if (peer_.engine().suspended_unit().IsOn()) return units_.wrong();
  }
  if (std::string wrong = WrongInData(peer_.engine()); !wrong.empty()) return wrong;
  if (!units_.wrong().empty()) return units_.wrong();
  for (const auto& [client, whole] : speaks_whole_) peer_.HangUp(client);
  return LeftBehind(peer_.engine());
}

std::string FuzzRun::HangUp(const std::string& client) {
  peer_.HangUp(client);
  speaks_whole_.erase(client);
  return EndsScript() ? HearAll() : "";
}

std::string FuzzRun::Send(const FuzzStep& step) {
  if (step.IsHangUp()) return HangUp(step.client);
  const Client* const before = peer_.Find(step.client);
  if (before == nullptr) speaks_whole_[step.client] = true;
  bool counts =
      IsPlain(before) && step.IsRequest() && AnswersOnce(step.words[0]) && QueueAnswersOnce(before);
  counts = counts && speaks_whole_[step.client];
  if (!step.IsRequest()) speaks_whole_[step.client] = false;
  peer_.Send(step.client, step.Sent());
  if (!EndsScript()) return "";
  const Client* const after = peer_.Find(step.client);
  const bool waits = after->IsWaiting();
  counts = counts && (waits || IsPlain(after)) && !after->connection.close_now;
  if (std::string wrong = HearAll(); !wrong.empty()) return wrong;
  const size_t wanted = waits ? 0 : 1;
  if (!counts || answers_[step.client] == wanted) return "";
  return std::to_string(answers_[step.client]) + " answers to " + FuzzScriptText({step});
}

bool FuzzRun::EndsScript() {
  Engine& engine = peer_.engine();
  for (size_t slice = 0; engine.suspended_unit().IsOn(); ++slice) {
    if (slice == kMostSlices) return false;
    Scripting& scripting = *engine.services().scripting;
    scripting.Kill(scripting.Running()->is_function).IgnoreError();  // it may have written
    peer_.Pass(Millis(0));                                           // runs a slice of it
  }
  return true;
}

std::string FuzzRun::HearAll() {
  answers_.clear();
  for (const auto& [client, whole] : speaks_whole_) {
    const std::string heard = peer_.Receive(client, Millis(0));
    const auto replies = SplitReplies(heard);
    if (!replies) return "malformed replies to " + client + ": " + heard;
    for (const std::string_view reply : *replies) answers_[client] += reply.front() != '>';
  }
  return "";
}

}  // namespace zsetd
