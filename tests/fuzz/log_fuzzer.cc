// An append-only log of arbitrary bytes under libFuzzer. Loaded data is consistent. A start that is
// refused changes nothing on the disk. One that succeeds leaves a log that restores the same data.
//
//   number of bytes | the manifest | bytes of ...1.incr.aof        1 byte, as many, the rest
//
// Without a manifest the usual one is used.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "tests/fuzz/data_check.h"
#include "tests/transcript/engine_peer.h"
#include "tests/transcript/transcript.h"

namespace zsetd {
namespace {

constexpr std::string_view kManifest = "/data/appendonlydir/appendonly.aof.manifest";
constexpr std::string_view kFile = "/data/appendonlydir/appendonly.aof.1.incr.aof";
constexpr std::string_view kUsualManifest = "file appendonly.aof.1.incr.aof seq 1 type i\n";

Settings WithLog() {
  Settings settings;
  settings.save.points.clear();
  settings.dir = "/data";
  settings.appendonly = true;
  settings.proto_max_bulk_len = 1 << 20;  // so that no command makes values of gigabytes
  settings.enable_debug_command = DangerousAccess::kYes;
  settings.scripting = false;  // endless scripts are not the subject of this fuzzer
  return settings;
}

std::string Digest(EnginePeer& peer) {
  peer.Send("a", Multibulk({"DEBUG", "DIGEST"}));
  return peer.Receive("a", Millis(0));
}

// Returns the violation in words; empty if nothing is wrong.
std::string Load(std::string_view bytes) {
  MemoryFiles::Contents disk;
  if (!bytes.empty()) {
    const size_t size = std::min<size_t>(static_cast<uint8_t>(bytes[0]), bytes.size() - 1);
    bytes.remove_prefix(1);
    disk[std::string(kManifest)] = size > 0 ? bytes.substr(0, size) : kUsualManifest;
    disk[std::string(kFile)] = bytes.substr(size);
  }
  EnginePeer peer(WithLog());
  for (const auto& [path, contents] : disk) peer.files().set_contents(path, contents);
  if (!peer.persistence().Start().ok()) {
    return peer.files().contents() == disk ? "" : "a refused start has changed files";
  }
  if (std::string wrong = WrongInData(peer.engine()); !wrong.empty()) return wrong;
  EnginePeer again(WithLog());
  for (const auto& [path, contents] : peer.files().contents()) {
    again.files().set_contents(path, contents);
  }
  if (!again.persistence().Start().ok()) return "the loaded data cannot be loaded again";
  return Digest(again) == Digest(peer) ? "" : "the data differs when it is loaded again";
}

}  // namespace
}  // namespace zsetd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string wrong = zsetd::Load({reinterpret_cast<const char*>(data), size});
  if (wrong.empty()) return 0;
  std::cerr << wrong << '\n';
  std::abort();
}
