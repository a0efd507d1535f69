// Streams of requests that are split and damaged in every way.

#include <gtest/gtest.h>

#include <random>

#include "protocol/resp/request_parser.h"
#include "tests/protocol/resp/parsing.h"

namespace zsetd::request_stream_test {
namespace {

using Chance = std::mt19937_64;

size_t Below(Chance& chance, size_t bound) { return chance() % bound; }

std::string RandomBytes(Chance& chance, size_t size) {
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(chance());
  return bytes;
}

// Mostly short, at times longer than a read.
size_t RandomSize(Chance& chance) {
  return Below(chance, 200) == 0 ? Below(chance, 50'000) : Below(chance, 12);
}

// Requests, and the bytes in which a client may send them. The plain model of the parser.
struct Stream {
  std::vector<Request> requests;
  std::string bytes;
};

void AddMultibulk(Stream& stream, Chance& chance) {
  Request request(1 + Below(chance, 6));
  for (std::string& word : request) word = RandomBytes(chance, RandomSize(chance));
  stream.bytes += Multibulk(request);
  stream.requests.push_back(std::move(request));
}

void AddInline(Stream& stream, Chance& chance) {
  Request request(1 + Below(chance, 4));
  for (std::string& word : request) {
    word = std::string(1 + RandomSize(chance) / 10, static_cast<char>('a' + Below(chance, 26)));
    stream.bytes += word + " ";
  }
  stream.bytes += Below(chance, 2) == 0 ? "\n" : "\r\n";
  stream.requests.push_back(std::move(request));
}

void AddNothing(Stream& stream, Chance& chance) {
  static constexpr std::string_view kNothings[] = {"\r\n", "\n", "*0\r\n", "*-1\r\n", "  \r\n"};
  stream.bytes += kNothings[Below(chance, std::size(kNothings))];
}

Stream RandomStream(Chance& chance, size_t size) {
  Stream stream;
  for (size_t i = 0; i < size; ++i) {
    switch (Below(chance, 6)) {
      case 0:
        AddNothing(stream, chance);
        break;
      case 1:
        AddInline(stream, chance);
        break;
      default:
        AddMultibulk(stream, chance);
    }
  }
  return stream;
}

// Parses `bytes` in pieces of up to `longest` bytes.
Parsed ParseInPieces(std::string_view bytes, size_t longest, Chance& chance) {
  RequestParser parser;
  Parsed parsed;
  while (!bytes.empty()) {
    const size_t size = std::min(bytes.size(), 1 + Below(chance, longest));
    Feed(parser, bytes.substr(0, size));
    TakeAll(parser, parsed);
    bytes.remove_prefix(size);
  }
  return parsed;
}

TEST(RequestStream, YieldsTheSameRequestsIfCutInTwoAnywhere) {
  const std::string bytes =
      "*3\r\n$3\r\nSET\r\n$0\r\n\r\n$12\r\nabc\r\ndef\r\n\r\n\r\n"
      "ECHO \"a b\" c\r\n*0\r\n\r\nPING\n*1\r\n$4\r\nQUIT\r\n*1\r\n$5x\r\n";
  const Parsed whole = Parse({bytes});
  ASSERT_EQ(whole.requests.size(), 4);
  ASSERT_EQ(whole.error, "ERR Protocol error: invalid bulk length");
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    const std::string_view view = bytes;
    EXPECT_EQ(Parse({view.substr(0, cut), view.substr(cut)}), whole) << cut;
  }
}

TEST(RequestStream, YieldsTheSameRequestsInRandomPieces) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Chance chance(seed);
    const Stream stream = RandomStream(chance, 60);
    for (size_t longest : {1, 7, 300, 20'000}) {
      const Parsed parsed = ParseInPieces(stream.bytes, longest, chance);
      ASSERT_EQ(parsed.error, "");
      ASSERT_EQ(parsed.requests, stream.requests) << "in pieces of up to " << longest;
    }
  }
}

TEST(RequestStream, ReadsAMillionTinyPiecesOnce) {  // if not, this test takes too long
  Chance chance(1);
  const Request many(200'000, "x");
  const Request large = {std::string(1'000'000, 'x')};
  const Parsed parsed = ParseInPieces(Multibulk(many) + Multibulk(large), 1, chance);
  EXPECT_EQ(parsed.requests, (std::vector<Request>{many, large}));
}

TEST(RequestStream, SurvivesNoise) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    Chance chance(seed);
    std::string noise = RandomBytes(chance, 500);
    if (seed % 2 == 0) {
      for (char& c : noise) c = "*$-0123\r\n\"'\\x "[Below(chance, 15)];
    }
    ASSERT_EQ(ParseInPieces(noise, 20, chance), Parse({noise}));
  }
}

// Changes, removes or repeats some bytes.
void Spoil(std::string& bytes, Chance& chance) {
  for (size_t i = 0; i < 3 && !bytes.empty(); ++i) {
    const size_t at = Below(chance, bytes.size());
    switch (Below(chance, 3)) {
      case 0:
        bytes[at] = static_cast<char>(chance());
        break;
      case 1:
        bytes.erase(at, 1 + Below(chance, 4));
        break;
      default:
        bytes.insert(at, bytes.substr(at, 1 + Below(chance, 4)));
    }
  }
}

TEST(RequestStream, SurvivesDamagedRequests) {
  size_t broken = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    Chance chance(seed);
    std::string bytes = RandomStream(chance, 8).bytes;
    Spoil(bytes, chance);
    const Parsed whole = Parse({bytes});
    ASSERT_EQ(ParseInPieces(bytes, 40, chance), whole);
    if (!whole.error.empty()) ++broken;
  }
  EXPECT_GT(broken, 200) << "too few streams were really spoilt";
}

}  // namespace
}  // namespace zsetd::request_stream_test
