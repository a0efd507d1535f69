// Scripts, and bytes for the libraries with which scripts parse bytes, under libFuzzer. The first
// byte selects one of them. An endless script is killed; the engine must reply afterwards.

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/rdb/dump_payload.h"
#include "server/commands/all_commands.h"
#include "server/engine/engine.h"
#include "server/scripting/scripting_service.h"

namespace zsetd {
namespace {

constexpr Millis kStart{1'800'000'000'000};
constexpr int kMostSlices = 20;

// An engine whose stopwatch advances by a millisecond at each reading.
class ScriptPeer {
 public:
  ScriptPeer() {
    engine_.clients().Attach(client_);
    engine_.clients().Attach(other_);
  }
  ~ScriptPeer() {
    engine_.clients().Detach(client_);
    engine_.clients().Detach(other_);
  }

  // Returns false if the running script takes too long and has written.
  bool Run(const std::vector<std::string_view>& words) {
    client_.output.buffer.Clear();
    engine_.executor().Execute(client_, words);
    for (int slice = 0; engine_.suspended_unit().IsOn() && slice < kMostSlices; ++slice) {
      other_.output.buffer.Clear();
      engine_.executor().Execute(other_, std::vector<std::string_view>{"SCRIPT", "KILL"});
      engine_.executor().Tick(Micros(1000));
    }
    return !engine_.suspended_unit().IsOn();
  }

  std::string_view reply() { return client_.output.buffer.view(); }

 private:
  static Settings SmallSettings() {
    Settings settings;
    settings.busy_reply_threshold = 50;
    settings.script_memory_limit = 8 << 20;
    return settings;
  }

  Micros stopwatch_{0};
  Engine engine_{SmallSettings(), AllCommands(), /*seed=*/1, kStart,
                 Host{.stopwatch = [this] { return stopwatch_ += Micros(1000); },
                      .wall_clock = [] { return Micros(kStart); },
                      .sleep = [](Micros) {}}};
  ScriptingService scripting_{engine_};
  Client client_{1, "127.0.0.1:50000", "127.0.0.1:6379", kStart, [] {}};
  Client other_{2, "127.0.0.1:50001", "127.0.0.1:6379", kStart, [] {}};
};

constexpr std::string_view kReaders[] = {
    "return cjson.encode(cjson.decode(ARGV[1]))",
    "return cmsgpack.pack(cmsgpack.unpack(ARGV[1]))",
    "local n = #ARGV[1] / 2 return {struct.unpack(ARGV[1]:sub(1, n), ARGV[1]:sub(n + 1))}",
    "return {struct.pack(ARGV[1], 1, 2, 'three', 4.5, 'five')}",
    "return {string.find('aaaaaaaaaabbbbbbbbbb', ARGV[1])}",
    "return {string.gsub('aaaaaaaaaabbbbbbbbbb', ARGV[1], '%0%1')}",
    "local t = {} for word in string.gmatch('aaaaaaaaaabbbbbbbbbb', ARGV[1]) do t[#t + 1] = word "
    "end",
    "local n = #ARGV[1] / 2 return {string.find(ARGV[1]:sub(1, n), ARGV[1]:sub(n + 1))}",
    "return {pcall(string.format, ARGV[1], 1, 'two', 3.5)}",
};

// Returns the violation in words; empty if nothing is wrong.
std::string Try(uint8_t kind, std::string_view bytes) {
  ScriptPeer peer;
  bool ended = true;
  if (kind < std::size(kReaders)) {
    ended = peer.Run({"EVAL", kReaders[kind], "0", bytes});
  } else if (kind == std::size(kReaders)) {
    ended = peer.Run({"FUNCTION", "LOAD", bytes});
  } else if (kind == std::size(kReaders) + 1) {
    std::string payload(bytes);
    SealPayload(payload);
    ended = peer.Run({"FUNCTION", "RESTORE", payload});
  } else {
    ended = peer.Run({"EVAL", bytes, "1", "key", "argument"});
  }
  if (!ended) return "";
  if (peer.reply().empty()) return "there is no reply";
  if (!peer.Run({"EVAL", "return 1", "0"})) return "a short script is suspended";
  return peer.reply() == ":1\r\n" ? "" : "the next script does not run";
}

}  // namespace
}  // namespace zsetd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr uint8_t kKinds = 15;
  const std::string wrong =
      zsetd::Try(data[0] % kKinds, {reinterpret_cast<const char*>(data) + 1, size - 1});
  if (wrong.empty()) return 0;
  std::cerr << wrong << '\n';
  std::abort();
}
