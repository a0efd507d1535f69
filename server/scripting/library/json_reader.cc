#include "server/scripting/library/json_reader.h"

#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "server/scripting/interpreter/interpreter.h"
#include "server/scripting/library/json_settings.h"

namespace zsetd {
namespace {

// Builds values on the Lua stack from the parts that RapidJSON's reader reports. The stack holds
// each open table and, for an object, the key of its next value.
class ValueBuilder {
 public:
  ValueBuilder(lua_State* lua, const JsonSettings& settings) : lua_(lua), settings_(settings) {}

  bool is_too_deep() const { return is_too_deep_; }

  bool Null() {
    lua_pushlightuserdata(lua_, nullptr);
    return Attach();
  }
  bool Bool(bool value) {
    lua_pushboolean(lua_, value);
    return Attach();
  }
  bool Int(int value) { return Double(value); }
  bool Uint(unsigned value) { return Double(value); }
  bool Int64(int64_t value) { return Double(static_cast<double>(value)); }
  bool Uint64(uint64_t value) { return Double(static_cast<double>(value)); }
  bool Double(double value) {
    lua_pushnumber(lua_, value);
    return Attach();
  }
  // Numbers arrive as text, because RapidJSON's fast conversion is not exact.
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    const double number = std::strtod(std::string(text, size).c_str(), nullptr);
    if (!settings_.decode_invalid && !std::isfinite(number)) return false;
    return Double(number);
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    lua_pushlstring(lua_, text, size);
    return Attach();
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    lua_pushlstring(lua_, text, size);
    return true;
  }
  bool StartObject() { return Open(false); }
  bool EndObject(rapidjson::SizeType) { return Close(); }
  bool StartArray() { return Open(true); }
  bool EndArray(rapidjson::SizeType) { return Close(); }

 private:
  struct Frame {
    bool is_array;
    int count;
  };

  bool Open(bool is_array) {
    if (frames_.size() >= static_cast<size_t>(settings_.decode_max_depth) ||
        lua_checkstack(lua_, 4) == 0) {
      is_too_deep_ = true;
      return false;
    }
    frames_.push_back({is_array, 0});
    lua_newtable(lua_);
    if (is_array && settings_.array_metatable) {
      PushArrayMetatable(lua_);
      lua_setmetatable(lua_, -2);
    }
    return true;
  }

  bool Close() {
    frames_.pop_back();
    return Attach();
  }

  // Puts the value on top into the innermost open table, if any.
  bool Attach() {
    if (frames_.empty()) return true;
    Frame& frame = frames_.back();
    if (frame.is_array) {
      lua_rawseti(lua_, -2, ++frame.count);
    } else {
      lua_rawset(lua_, -3);
    }
    return true;
  }

  lua_State* lua_;
  const JsonSettings& settings_;
  std::vector<Frame> frames_;
  bool is_too_deep_ = false;
};

// Returns lua-cjson's name for the token at `at`.
const char* TokenAt(std::string_view text, size_t at) {
  if (at >= text.size() || text[at] == '\0') return "T_END";
  const std::string_view rest = text.substr(at);
  switch (rest[0]) {
    case '{':
      return "T_OBJ_BEGIN";
    case '}':
      return "T_OBJ_END";
    case '[':
      return "T_ARR_BEGIN";
    case ']':
      return "T_ARR_END";
    case '"':
      return "T_STRING";
    case ':':
      return "T_COLON";
    case ',':
      return "T_COMMA";
    default:
      break;
  }
  if (rest[0] >= '0' && rest[0] <= '9') return "T_NUMBER";
  if (rest.starts_with("true") || rest.starts_with("false")) return "T_BOOLEAN";
  return rest.starts_with("null") ? "T_NULL" : "invalid token";
}

bool IsLetterOrDigit(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '.' || byte == '-' || byte == '+';
}

// Returns the start of an invalid word.
size_t WordStart(std::string_view text, size_t at) {
  while (at > 0 && IsLetterOrDigit(text[at - 1])) --at;
  return at;
}

struct Problem {
  const char* expected = "value";
  const char* found = nullptr;  // null: the token at `at`
  size_t at = 0;
};

Problem ProblemOf(const rapidjson::ParseResult& result, std::string_view text) {
  const size_t at = result.Offset();
  switch (result.Code()) {
    case rapidjson::kParseErrorDocumentRootNotSingular:
      return {"the end", nullptr, at};
    case rapidjson::kParseErrorObjectMissName:
      return {"object key string", nullptr, at};
    case rapidjson::kParseErrorObjectMissColon:
      return {"colon", nullptr, at};
    case rapidjson::kParseErrorObjectMissCommaOrCurlyBracket:
      return {"comma or object end", nullptr, at};
    case rapidjson::kParseErrorArrayMissCommaOrSquareBracket:
      return {"comma or array end", nullptr, at};
    case rapidjson::kParseErrorStringUnicodeEscapeInvalidHex:
    case rapidjson::kParseErrorStringUnicodeSurrogateInvalid:
      return {"value", "invalid unicode escape code", at};
    case rapidjson::kParseErrorStringEscapeInvalid:
      return {"value", "invalid escape code", at};
    case rapidjson::kParseErrorStringMissQuotationMark:
      return {"value", "unexpected end of string", text.size()};
    case rapidjson::kParseErrorNumberMissFraction:
    case rapidjson::kParseErrorNumberMissExponent:
    case rapidjson::kParseErrorTermination:
      return {"value", "invalid number", WordStart(text, at)};
    case rapidjson::kParseErrorValueInvalid: {
      const size_t start = WordStart(text, at);
      return {"value", nullptr, start};
    }
    default:
      return {"value", nullptr, at};
  }
}

}  // namespace

int DecodeJson(lua_State* lua) {
  luaL_argcheck(lua, lua_gettop(lua) == 1, 1, "expected 1 argument");
  size_t size = 0;
  const char* const bytes = luaL_checklstring(lua, 1, &size);
  const std::string_view text(bytes, size);
  Interpreter::Of(lua).NoteWork(size);
  const JsonSettings& settings = JsonSettingsOf(lua);
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseNanAndInfFlag |
                              rapidjson::kParseNumbersAsStringsFlag;
  rapidjson::MemoryStream stream(bytes, size);
  rapidjson::Reader reader;
  ValueBuilder builder(lua, settings);
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, builder);
  if (!result.IsError()) return 1;
  if (builder.is_too_deep()) {
    return luaL_error(lua, "Found too many nested data structures (%d) at character %d",
                      settings.decode_max_depth + 1, static_cast<int>(result.Offset()) + 1);
  }
  const Problem problem = ProblemOf(result, text);
  return luaL_error(lua, "Expected %s but found %s at character %d", problem.expected,
                    problem.found != nullptr ? problem.found : TokenAt(text, problem.at),
                    static_cast<int>(problem.at) + 1);
}

}  // namespace zsetd
