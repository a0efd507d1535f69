// Any bytes, sealed as DUMP seals a value and given to RESTORE under libFuzzer: what is taken holds
// together, and what it is dumped as is taken again.

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

std::string Ask(EnginePeer& peer, const std::vector<std::string>& words) {
  peer.Send("a", Multibulk(words));
  return peer.Receive("a", Millis(0));
}

// The word in the bulk string that a reply is.
std::string Word(const std::string& reply) {
  const size_t start = reply.find('\n') + 1;
  return reply.substr(start, reply.size() - start - 2);
}

// What is wrong, in words; empty if nothing is.
std::string Restore(std::string value) {
  SealPayload(value);
  EnginePeer peer;
  if (Ask(peer, {"RESTORE", "k", "0", value}) != kTaken) return "";
  const std::string dumped = Word(Ask(peer, {"DUMP", "k"}));
  if (Ask(peer, {"RESTORE", "again", "0", dumped}) != kTaken) return "DUMP gave no payload";
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
