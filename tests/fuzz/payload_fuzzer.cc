// Arbitrary bytes under libFuzzer, sealed like the output of DUMP and passed to RESTORE. An
// accepted value is consistent, and RESTORE accepts its DUMP again.

#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "protocol/rdb/dump_payload.h"
#include "tests/fuzz/data_check.h"
#include "tests/transcript/engine_peer.h"
#include "tests/transcript/transcript.h"

namespace zsetd {
namespace {

constexpr std::string_view kTaken = "+OK\r\n";
constexpr std::string_view kMissing = "$-1\r\n";

std::string Ask(EnginePeer& peer, const std::vector<std::string>& words) {
  peer.Send("a", Multibulk(words));
  return peer.Receive("a", Millis(0));
}

// Returns the contents of a bulk string reply.
std::string Word(const std::string& reply) {
  const size_t start = reply.find('\n') + 1;
  return reply.substr(start, reply.size() - start - 2);
}

// Returns the violation in words; empty if nothing is wrong.
std::string Restore(std::string value) {
  SealPayload(value);
  EnginePeer peer;
  if (Ask(peer, {"RESTORE", "k", "0", value}) != kTaken) return "";
  const std::string dumped = Ask(peer, {"DUMP", "k"});
  if (dumped == kMissing)
    return WrongInData(peer.engine());  // the deadlines of all members have passed
  if (Ask(peer, {"RESTORE", "again", "0", Word(dumped)}) != kTaken) return "DUMP gave no payload";
  return WrongInData(peer.engine());
}

}  // namespace
}  // namespace zsetd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string wrong = zsetd::Restore({reinterpret_cast<const char*>(data), size});
  if (wrong.empty()) return 0;
  std::cerr << wrong << '\n';
  std::abort();
}
