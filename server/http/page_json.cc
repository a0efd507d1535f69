#include "server/http/page_json.h"

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <boost/algorithm/hex.hpp>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "protocol/text/number_text.h"
#include "server/engine/support/ascii_case.h"
#include "server/http/page_commands.h"
#include "server/http/utf8.h"

namespace zsetd {
namespace {

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

// Smaller integers are exact as numbers of JavaScript.
constexpr int64_t kLargestExact = int64_t{1} << 53;
constexpr int kDeepest = 32;

std::optional<std::string> FromHex(std::string_view digits) {
  if (digits.size() % 2 != 0 || !std::ranges::all_of(digits, absl::ascii_isxdigit)) {
    return std::nullopt;
  }
  std::string bytes;
  boost::algorithm::unhex(digits, std::back_inserter(bytes));
  return bytes;
}

std::optional<std::string> ReadWord(const rapidjson::Value& word) {
  if (word.IsString()) return std::string(word.GetString(), word.GetStringLength());
  if (!word.IsObject() || !word.HasMember("hex") || !word["hex"].IsString()) return std::nullopt;
  return FromHex({word["hex"].GetString(), word["hex"].GetStringLength()});
}

std::optional<std::vector<std::string>> ReadCommand(const rapidjson::Value& command) {
  if (!command.IsArray() || command.Empty()) return std::nullopt;
  std::vector<std::string> words;
  for (const rapidjson::Value& each : command.GetArray()) {
    auto word = ReadWord(each);
    if (!word) return std::nullopt;
    words.push_back(std::move(*word));
  }
  return words;
}

void WriteText(std::string_view text, Writer& json) {
  if (IsUtf8(text)) {
    json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
    return;
  }
  const std::string digits = absl::BytesToHexString({text.data(), text.size()});
  json.StartObject();
  json.Key("hex");
  json.String(digits.c_str());
  json.EndObject();
}

// Converts replies of this server to JSON. Invalid or too deeply nested replies become null.
class ReplyToJson {
 public:
  ReplyToJson(std::string_view bytes, Writer& json) : bytes_(bytes), json_(json) {}

  void Write(int depth = 0) {
    const char kind = bytes_.empty() ? '\0' : bytes_[0];
    const std::string_view line = Line();
    switch (kind) {
      case '+':
        return WriteText(line, json_);
      case '-':
        return WriteError(line);
      case ':':
        return WriteInteger(ParseInteger(line).value_or(0));
      case '$':
        return WriteBulk(ParseInteger(line).value_or(-1));
      case '*':
        return WriteArray(ParseInteger(line).value_or(-1), depth);
      default:
        json_.Null();
    }
  }

 private:
  std::string_view Line() {
    const size_t end = std::min(bytes_.find("\r\n"), bytes_.size());
    const std::string_view line =
        bytes_.substr(std::min<size_t>(1, end), end - std::min<size_t>(1, end));
    bytes_.remove_prefix(std::min(end + 2, bytes_.size()));
    return line;
  }

  void WriteError(std::string_view line) {
    json_.StartObject();
    json_.Key("error");
    WriteText(line, json_);
    json_.EndObject();
  }

  void WriteInteger(int64_t number) {
    if (number > -kLargestExact && number < kLargestExact) {
      json_.Int64(number);
    } else {
      WriteText(IntegerText(number), json_);
    }
  }

  void WriteBulk(int64_t size) {
    if (size < 0 || static_cast<size_t>(size) > bytes_.size()) {
      json_.Null();
      return;
    }
    WriteText(bytes_.substr(0, size), json_);
    bytes_.remove_prefix(std::min<size_t>(size + 2, bytes_.size()));
  }

  void WriteArray(int64_t count, int depth) {
    if (count < 0 || depth == kDeepest) {
      json_.Null();
      return;
    }
    json_.StartArray();
    for (int64_t i = 0; i < count && !bytes_.empty(); ++i) Write(depth + 1);
    json_.EndArray();
  }

  std::string_view bytes_;
  Writer& json_;
};

}  // namespace

std::optional<std::vector<std::vector<std::string>>> ReadPageCommands(std::string_view body) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(
      body.data(), body.size());
  if (document.HasParseError() || !document.IsObject() || !document.HasMember("commands")) {
    return std::nullopt;
  }
  const rapidjson::Value& list = document["commands"];
  if (!list.IsArray() || list.Empty() || list.Size() > kMostPageCommands) return std::nullopt;
  std::vector<std::vector<std::string>> commands;
  for (const rapidjson::Value& each : list.GetArray()) {
    auto command = ReadCommand(each);
    if (!command) return std::nullopt;
    commands.push_back(std::move(*command));
  }
  return commands;
}

std::string PageRepliesJson(std::span<const std::string> replies) {
  rapidjson::StringBuffer text;
  Writer json(text);
  json.StartObject();
  json.Key("replies");
  json.StartArray();
  for (const std::string& reply : replies) ReplyToJson(reply, json).Write();
  json.EndArray();
  json.EndObject();
  return {text.GetString(), text.GetSize()};
}

std::optional<Credentials> ReadCredentials(std::string_view header) {
  constexpr std::string_view kScheme = "basic ";
  if (header.size() < kScheme.size() ||
      !EqualsIgnoringCase(header.substr(0, kScheme.size()), kScheme)) {
    return std::nullopt;
  }
  std::string decoded;
  const std::string_view encoded = header.substr(kScheme.size());
  if (!absl::Base64Unescape({encoded.data(), encoded.size()}, &decoded)) return std::nullopt;
  const size_t colon = decoded.find(':');
  if (colon == std::string::npos) return std::nullopt;
  return Credentials{decoded.substr(0, colon), decoded.substr(colon + 1)};
}

}  // namespace zsetd
