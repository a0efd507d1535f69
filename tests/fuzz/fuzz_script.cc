#include "tests/fuzz/fuzz_script.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "protocol/resp/request_parser.h"
#include "server/engine/support/ascii_case.h"
#include "tests/transcript/transcript.h"

namespace zsetd {
namespace {

// Escapes every byte as hexadecimal, which avoids all other rules of quoting.
std::string Escaped(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "\"";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte > ' ' && byte < 0x7f && byte != '"' && byte != '\\';
    plain ? text += c : (text += "\\x", text += kDigits[byte >> 4], text += kDigits[byte & 15]);
  }
  return text + '"';
}

// Returns the words of a request as a client library sends it; empty if the bytes are anything
// else.
std::vector<std::string> WordsOf(std::string_view bytes) {
  RequestParser parser;
  for (std::string_view left = bytes; !left.empty();) {
    const std::span<char> space = parser.Space();
    const size_t count = std::min(space.size(), left.size());
    std::copy_n(left.data(), count, space.data());
    parser.Arrived(count);
    left.remove_prefix(count);
  }
  if (parser.Next() != RequestParser::Result::kRequest) return {};
  std::vector<std::string> words(parser.argv().begin(), parser.argv().end());
  return Multibulk(words) == bytes ? words : std::vector<std::string>();
}

FuzzStep StepOf(const Step& step) {
  return {
      .client = step.client, .words = WordsOf(step.bytes), .bytes = step.bytes, .time = step.time};
}

// Returns whether the step turns replies off, or changes the limits of replies or of the time of
// scripts. FuzzRun relies on these. In a transaction, CLIENT REPLY removes elements of the reply to
// EXEC, as in Redis.
bool ChangesTheRules(const FuzzStep& step) {
  constexpr std::string_view kSettings[] = {"client-output-buffer-limit", "busy-reply-threshold",
                                            "lua-time-limit"};
  if (!step.IsRequest()) {
    const std::string bytes = absl::AsciiStrToLower(step.bytes);
    return absl::StrContains(bytes, "reply") || absl::StrContains(bytes, "lua-time-limit");
  }
  const auto names_setting = [&](std::string_view word) {
    return std::ranges::any_of(
        kSettings, [&](std::string_view name) { return EqualsIgnoringCase(word, name); });
  };
  return (step.words.size() > 1 && EqualsIgnoringCase(step.words[1], "reply")) ||
         std::ranges::any_of(step.words, names_setting);
}

}  // namespace

std::string FuzzStep::Sent() const { return IsRequest() ? Multibulk(words) : bytes; }

FuzzScript ReadFuzzScript(std::string_view text) {
  const auto transcript = ParseTranscript(text);
  FuzzScript script;
  if (!transcript.ok() || transcript->needs_socket) return script;
  for (const Step& step : transcript->steps) {
    if (step.kind == Step::Kind::kHear) continue;
    FuzzStep fuzz = StepOf(step);
    if (!ChangesTheRules(fuzz)) script.push_back(std::move(fuzz));
  }
  return script;
}

std::string FuzzScriptText(const FuzzScript& script) {
  std::string text;
  for (const FuzzStep& step : script) {
    if (step.client.empty()) {
      text += "+" + std::to_string(step.time.count()) + "\n";
      continue;
    }
    text += step.client + (step.IsRequest() ? ">" : ">>");
    for (const std::string& word : step.words) text += " " + Escaped(word);
    if (!step.IsRequest()) text += " " + Escaped(step.bytes);
    text += "\n...\n";
  }
  return text;
}

}  // namespace zsetd
