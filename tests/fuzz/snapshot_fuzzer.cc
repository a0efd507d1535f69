// Arbitrary bytes as a snapshot file under libFuzzer. The loaded data is consistent, and a snapshot
// of it loads as the same data. A check, as a replica makes before it drops its data, succeeds
// exactly for the files that load. Checksums are not verified: otherwise no mutation would load.

#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "server/persistence/snapshot/snapshot_loader.h"
#include "tests/fuzz/data_check.h"
#include "tests/transcript/engine_peer.h"
#include "tests/transcript/transcript.h"

namespace zsetd {
namespace {

constexpr std::string_view kPath = "/data/dump.rdb";

std::string Ask(EnginePeer& peer, const std::vector<std::string>& words) {
  peer.Send("a", Multibulk(words));
  return peer.Receive("a", Millis(0));
}

Settings Unchecked() {
  Settings settings;
  settings.save.points.clear();
  settings.dir = "/data";
  settings.rdbchecksum = false;
  settings.rdb_skip_unknown = true;
  settings.enable_debug_command = DangerousAccess::kYes;
  settings.scripting = false;  // endless scripts are not the subject of this fuzzer
  return settings;
}

bool IsCheckRight(MemoryFiles& files) {
  const LoadOptions options = {
      .checks_checksum = false, .skips_unknown = true, .keeps_expired = true, .make_keyspace = [] {
        return Keyspace(1);
      }};
  const std::string path(kPath);
  return LoadSnapshot(files, path, options).ok() == CheckSnapshot(files, path, options).ok();
}

// Returns the violation in words; empty if nothing is wrong.
std::string Load(std::string file) {
  EnginePeer peer(Unchecked());
  peer.files().set_contents(std::string(kPath), std::move(file));
  if (!IsCheckRight(peer.files())) return "a check and a load do not agree";
  if (!peer.persistence().Start().ok()) return "";
  const std::string wrong = WrongInData(peer.engine());
  if (!wrong.empty()) return wrong;
  const std::string digest = Ask(peer, {"DEBUG", "DIGEST"});
  if (Ask(peer, {"DEBUG", "RELOAD"}) != "+OK\r\n") return "the saved data cannot be loaded";
  return Ask(peer, {"DEBUG", "DIGEST"}) == digest ? "" : "what was saved is not what was loaded";
}

}  // namespace
}  // namespace zsetd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string wrong = zsetd::Load({reinterpret_cast<const char*>(data), size});
  if (wrong.empty()) return 0;
  std::cerr << wrong << '\n';
  std::abort();
}
