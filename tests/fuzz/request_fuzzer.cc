// Arbitrary bytes for the request parser under libFuzzer. In pieces of every size they yield the
// same requests and the same error. An inline line that is quoted again parses to the same words.

#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "core/util/rng.h"
#include "protocol/resp/inline_words.h"
#include "tests/protocol/resp/parsing.h"

namespace zsetd {
namespace {

// The limits are low, so that short inputs reach them.
constexpr RequestLimits kLimits[] = {
    {.max_bulk_bytes = 1000, .max_words = 100, .max_line_bytes = 200},
    {.max_bulk_bytes = 1000, .max_words = 100, .max_line_bytes = 200, .unauthenticated = true}};

// The bytes determine the cuts, so that a finding is reproducible.
Parsed ParseInPieces(std::string_view bytes, size_t longest, const RequestLimits& limits) {
  Rng rng(bytes.size());
  RequestParser parser(limits);
  Parsed parsed;
  while (!bytes.empty()) {
    const size_t size = std::min<size_t>(bytes.size(), 1 + rng.Below(longest));
    Feed(parser, bytes.substr(0, size));
    parser.Upcoming();  // called by sessions; changes nothing
    TakeAll(parser, parsed);
    bytes.remove_prefix(size);
  }
  return parsed;
}

bool QuotedAgainSaysTheSame(std::string_view line) {
  const auto words = SplitWords(line);
  if (!words) return true;
  std::string again;
  for (const std::string& word : *words) again += QuoteWord(word) + " ";
  return SplitWords(again) == words;
}

void Expect(bool holds, const char* what) {
  if (holds) return;
  std::cerr << "not so: " << what << '\n';
  std::abort();
}

}  // namespace
}  // namespace zsetd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const zsetd::RequestLimits& limits : zsetd::kLimits) {
    const zsetd::Parsed whole = zsetd::Parse({bytes}, limits);
    for (size_t longest : {1, 7, 60}) {
      zsetd::Expect(zsetd::ParseInPieces(bytes, longest, limits) == whole,
                    "pieces parse as the whole does");
    }
  }
  zsetd::Expect(zsetd::QuotedAgainSaysTheSame(bytes), "words quoted again are the same words");
  return 0;
}
