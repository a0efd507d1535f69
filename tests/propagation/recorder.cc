#include "tests/propagation/recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "protocol/resp/request_parser.h"

namespace zsetd {

uint64_t Recorder::Append(OutputBuffer& unit) {
  bytes_ += unit.view();
  ++units_;
  return position_ += unit.size();
}

std::vector<Words> Requests(std::string_view bytes) {
  RequestParser parser;
  std::vector<Words> requests;
  while (true) {
    while (parser.Next() == RequestParser::Result::kRequest) {
      requests.emplace_back(parser.argv().begin(), parser.argv().end());
    }
    EXPECT_EQ(parser.error(), "");
    if (bytes.empty() || !parser.error().empty()) break;
    const std::span<char> space = parser.Space();
    const size_t size = std::min(space.size(), bytes.size());
    std::ranges::copy(bytes.substr(0, size), space.begin());
    parser.Arrived(size);
    bytes.remove_prefix(size);
  }
  EXPECT_EQ(parser.buffered_bytes(), 0u);
  return requests;
}

std::string Plain(std::string_view bytes) {
  std::string text;
  for (const Words& request : Requests(bytes)) {
    if (!text.empty()) text += "; ";
    for (size_t i = 0; i < request.size(); ++i) text += (i > 0 ? " " : "") + request[i];
  }
  return text;
}

}  // namespace zsetd
