// cjson, written on RapidJSON instead of lua-cjson, which Redis uses, for two reasons:
//
//   - Bounded memory. lua-cjson collects its output in a buffer of its own, which
//   script-memory-limit
//     does not count, and runs a call of any length to its end. This one writes to a ScriptBuffer,
//     and a long cjson.encode can be suspended (LongCall).
//   - RFC 8259. lua-cjson also reads numbers that are not JSON, such as 0x10 and 01.
//
// Settings, errors and the treatment of arrays are those of lua-cjson.
#include "server/scripting/library/json.h"

#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/scripting/interpreter/interpreter.h"
#include "server/scripting/library/library_errors.h"
#include "server/scripting/library/long_call.h"
#include "server/scripting/library/script_buffer.h"

namespace zsetd {

struct JsonSettings {
  bool sparse_convert = false;  // an excessively sparse array becomes an object
  int sparse_ratio = 2;
  int sparse_safe = 10;
  int encode_max_depth = 1000;
  int decode_max_depth = 1000;
  int precision = 14;
  int encode_invalid = 0;  // NaN and infinity: 0 refuses them, 1 writes them, 2 writes null
  bool decode_invalid = true;
  bool keep_buffer = true;  // has no effect
  bool array_metatable = false;
};

namespace {

char array_metatable_key;  // its address is a key of the registry

JsonSettings& SettingsOf(lua_State* lua) {
  return *static_cast<JsonSettings*>(lua_touserdata(lua, lua_upvalueindex(1)));
}

std::string_view TextAt(lua_State* lua, int index) {
  size_t size = 0;
  const char* const text = lua_tolstring(lua, index, &size);
  return {text, size};
}

// --- Writing ---

// A call of encode. The tables that are being written are on the stack. Each object is followed by
// the key of its current entry; an array is followed by nothing:
//
//   {"a": [1, {}]}    ... object, "a", array, {}
class EncodeCall : public LongCall {
 public:
  // Encodes the value on top of the stack.
  EncodeCall(lua_State* lua, const JsonSettings& settings) : settings_(settings), text_(lua) {}

  int Work(lua_State* lua) override {
    lua_ = lua;
    Interpreter& interpreter = Interpreter::Of(lua);
    if (!std::exchange(has_begun_, true)) Append();
    for (int step = 1; !frames_.empty(); ++step) {
      if (frames_.back().is_array) {
        NextElement();
      } else {
        NextField();
      }
      if (step % kStepsPerLook == 0 && interpreter.IsLate(lua)) return kUnfinished;
    }
    text_.Push(lua);
    return 1;
  }

 private:
  static constexpr int kStepsPerLook = 5'000;

  // A table that is being written.
  struct Frame {
    bool is_array;
    int length;
    int written;
  };

  [[noreturn]] void FailOn(const char* reason) {
    Fail(lua_,
         std::string("Cannot serialise ") + lua_typename(lua_, lua_type(lua_, -1)) + ": " + reason);
  }

  void Write(std::string_view bytes) { text_.Append(lua_, bytes); }
  void Write(char byte) { text_.Append(lua_, byte); }

  // Writes the value on top of the stack and pops it. A table is only begun.
  void Append() {
    switch (lua_type(lua_, -1)) {
      case LUA_TSTRING:
        AppendString(TextAt(lua_, -1));
        break;
      case LUA_TNUMBER:
        AppendNumber();
        break;
      case LUA_TBOOLEAN:
        Write(lua_toboolean(lua_, -1) != 0 ? "true" : "false");
        break;
      case LUA_TTABLE:
        return BeginTable();
      case LUA_TNIL:
        Write("null");
        break;
      case LUA_TLIGHTUSERDATA:
        if (lua_touserdata(lua_, -1) == nullptr) {
          Write("null");
          break;
        }
        [[fallthrough]];
      default:
        FailOn("type not supported");
    }
    lua_pop(lua_, 1);
  }

  void AppendString(std::string_view bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    Write('"');
    size_t written = 0;
    for (size_t i = 0; i < bytes.size(); ++i) {
      const auto code = static_cast<unsigned char>(bytes[i]);
      const char letter = EscapeLetter(bytes[i]);
      if (letter == 0 && code >= ' ' && code != 0x7f) continue;
      Write(bytes.substr(written, i - written));
      written = i + 1;
      if (letter != 0) {
        const char escaped[] = {'\\', letter};
        Write({escaped, sizeof(escaped)});
      } else {
        const char escaped[] = {'\\', 'u', '0', '0', kDigits[code >> 4], kDigits[code & 0xf]};
        Write({escaped, sizeof(escaped)});
      }
    }
    Write(bytes.substr(written));
    Write('"');
  }

  // The letter that represents a byte after a backslash; 0 for other bytes.
  static char EscapeLetter(char byte) {
    switch (byte) {
      case '"':
      case '\\':
      case '/':
        return byte;
      case '\b':
        return 'b';
      case '\f':
        return 'f';
      case '\n':
        return 'n';
      case '\r':
        return 'r';
      case '\t':
        return 't';
      default:
        return 0;
    }
  }

  void AppendNumber() {
    const double number = lua_tonumber(lua_, -1);
    if (!std::isfinite(number) && settings_.encode_invalid != 1) {
      if (settings_.encode_invalid == 0) FailOn("must not be NaN or Inf");
      return Write("null");
    }
    char digits[64];
    const int size = std::snprintf(digits, sizeof(digits), "%.*g", settings_.precision, number);
    Write({digits, static_cast<size_t>(size)});
  }

  void BeginTable() {
    const auto depth = static_cast<int>(frames_.size()) + 1;
    if (depth > settings_.encode_max_depth || lua_checkstack(lua_, 5) == 0) {
      Fail(lua_, "Cannot serialise, excessive nesting (" + std::to_string(depth) + ")");
    }
    const bool is_array = HasArrayMetatable();
    const int length = is_array ? static_cast<int>(lua_objlen(lua_, -1)) : ArrayLength();
    frames_.push_back({is_array || length > 0, length, 0});
    Write(frames_.back().is_array ? '[' : '{');
    if (!frames_.back().is_array) lua_pushnil(lua_);
  }

  void EndTable(char bracket) {
    Write(bracket);
    frames_.pop_back();
    lua_pop(lua_, 1);
  }

  void NextElement() {
    Frame& frame = frames_.back();
    if (frame.written == frame.length) return EndTable(']');
    if (frame.written > 0) Write(',');
    lua_rawgeti(lua_, -1, ++frame.written);
    Append();
  }

  void NextField() {
    if (lua_next(lua_, -2) == 0) return EndTable('}');
    if (frames_.back().written++ > 0) Write(',');
    AppendKey();
    Write(':');
    Append();
  }

  // Writes the key of the pair on top.
  void AppendKey() {
    lua_pushvalue(lua_, -2);
    if (lua_type(lua_, -1) == LUA_TSTRING) {
      AppendString(TextAt(lua_, -1));
    } else if (lua_type(lua_, -1) == LUA_TNUMBER) {
      Write('"');
      AppendNumber();
      Write('"');
    } else {
      FailOn("table key must be a number or string");
    }
    lua_pop(lua_, 1);
  }

  bool HasArrayMetatable() {
    if (lua_getmetatable(lua_, -1) == 0) return false;
    lua_pushlightuserdata(lua_, &array_metatable_key);
    lua_rawget(lua_, LUA_REGISTRYINDEX);
    const bool same = lua_rawequal(lua_, -1, -2) != 0;
    lua_pop(lua_, 2);
    return same;
  }

  // Returns the length of an array; 0 or less if the table is an object.
  int ArrayLength() {
    double length = 0;
    int count = 0;
    for (lua_pushnil(lua_); lua_next(lua_, -2) != 0; lua_pop(lua_, 1)) {
      const bool is_number = lua_type(lua_, -2) == LUA_TNUMBER;
      const double key = is_number ? lua_tonumber(lua_, -2) : 0;
      if (!(key >= 1) || std::floor(key) != key) {
        lua_pop(lua_, 2);
        return -1;
      }
      length = std::max(length, key);
      ++count;
    }
    const bool is_sparse = settings_.sparse_ratio > 0 &&
                           length > static_cast<double>(count) * settings_.sparse_ratio &&
                           length > settings_.sparse_safe;
    if (is_sparse) {
      if (!settings_.sparse_convert) FailOn("excessively sparse array");
      return -1;
    }
    if (length > INT_MAX) FailOn("excessively sparse array");
    return static_cast<int>(length);
  }

  lua_State* lua_ = nullptr;  // valid during Work()
  JsonSettings settings_;
  std::vector<Frame> frames_;
  ScriptBuffer text_;
  bool has_begun_ = false;
};

int Encode(lua_State* lua) {
  if (lua_gettop(lua) != 1) FailArgument(lua, 1, "encode", "expected 1 argument");
  return StartCall(lua, EncodeCall(lua, SettingsOf(lua)));
}

// --- Reading ---

// Builds values on the Lua stack from the parts that RapidJSON's reader reports. The stack holds
// each open table and, for an object, the key of its next value.
class ValueBuilder {
 public:
  ValueBuilder(lua_State* lua, const JsonSettings& settings) : lua_(lua), settings_(settings) {}

  bool is_too_deep() const { return is_too_deep_; }
  bool has_invalid_number() const { return has_invalid_number_; }

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
  // Numbers arrive as text, because a number that is too large must become infinite.
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    const double number = std::strtod(std::string(text, size).c_str(), nullptr);
    has_invalid_number_ = !settings_.decode_invalid && !std::isfinite(number);
    return !has_invalid_number_ && Double(number);
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
      lua_pushlightuserdata(lua_, &array_metatable_key);
      lua_rawget(lua_, LUA_REGISTRYINDEX);
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
  bool has_invalid_number_ = false;
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

int Decode(lua_State* lua) {
  luaL_argcheck(lua, lua_gettop(lua) == 1, 1, "expected 1 argument");
  size_t size = 0;
  const char* const bytes = luaL_checklstring(lua, 1, &size);
  const std::string_view text(bytes, size);
  Interpreter::Of(lua).NoteWork(size);
  const JsonSettings& settings = SettingsOf(lua);
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

// --- Settings ---

// Reads argument `index` as an integer in this range, if it is present.
void IntegerOption(lua_State* lua, int index, int least, int most, int& setting) {
  if (lua_isnoneornil(lua, index)) return;
  const lua_Integer value = luaL_checkinteger(lua, index);
  char error[64];
  std::snprintf(error, sizeof(error), "expected integer between %d and %d", least, most);
  luaL_argcheck(lua, value >= least && value <= most, index, error);
  setting = static_cast<int>(value);
}

int ReturnInteger(lua_State* lua, int value) {
  lua_pushinteger(lua, value);
  return 1;
}

// Reads argument `index` as a boolean or as one of these words.
void EnumOption(lua_State* lua, int index, const char* const* argv, int& setting) {
  if (lua_isnoneornil(lua, index)) return;
  setting = lua_isboolean(lua, index) ? lua_toboolean(lua, index)
                                      : luaL_checkoption(lua, index, nullptr, argv);
}

void BoolOption(lua_State* lua, int index, bool& setting) {
  constexpr const char* kWords[] = {"off", "on", nullptr};
  int value = setting ? 1 : 0;
  EnumOption(lua, index, kWords, value);
  setting = value != 0;
}

int ReturnBool(lua_State* lua, bool value) {
  lua_pushboolean(lua, value);
  return 1;
}

void CheckCount(lua_State* lua, int most) {
  luaL_argcheck(lua, lua_gettop(lua) <= most, most + 1, "found too many arguments");
}

int EncodeSparseArray(lua_State* lua) {
  JsonSettings& settings = SettingsOf(lua);
  CheckCount(lua, 3);
  BoolOption(lua, 1, settings.sparse_convert);
  IntegerOption(lua, 2, 0, INT_MAX, settings.sparse_ratio);
  IntegerOption(lua, 3, 0, INT_MAX, settings.sparse_safe);
  lua_pushboolean(lua, settings.sparse_convert);
  lua_pushinteger(lua, settings.sparse_ratio);
  lua_pushinteger(lua, settings.sparse_safe);
  return 3;
}

int EncodeMaxDepth(lua_State* lua) {
  CheckCount(lua, 1);
  IntegerOption(lua, 1, 1, INT_MAX, SettingsOf(lua).encode_max_depth);
  return ReturnInteger(lua, SettingsOf(lua).encode_max_depth);
}

int DecodeMaxDepth(lua_State* lua) {
  CheckCount(lua, 1);
  IntegerOption(lua, 1, 1, INT_MAX, SettingsOf(lua).decode_max_depth);
  return ReturnInteger(lua, SettingsOf(lua).decode_max_depth);
}

int EncodeNumberPrecision(lua_State* lua) {
  CheckCount(lua, 1);
  IntegerOption(lua, 1, 1, 14, SettingsOf(lua).precision);
  return ReturnInteger(lua, SettingsOf(lua).precision);
}

int EncodeKeepBuffer(lua_State* lua) {
  CheckCount(lua, 1);
  BoolOption(lua, 1, SettingsOf(lua).keep_buffer);
  return ReturnBool(lua, SettingsOf(lua).keep_buffer);
}

int EncodeInvalidNumbers(lua_State* lua) {
  constexpr const char* kWords[] = {"off", "on", "null", nullptr};
  CheckCount(lua, 1);
  int& setting = SettingsOf(lua).encode_invalid;
  EnumOption(lua, 1, kWords, setting);
  if (setting < 2) return ReturnBool(lua, setting == 1);
  lua_pushstring(lua, kWords[setting]);
  return 1;
}

int DecodeInvalidNumbers(lua_State* lua) {
  CheckCount(lua, 1);
  BoolOption(lua, 1, SettingsOf(lua).decode_invalid);
  return ReturnBool(lua, SettingsOf(lua).decode_invalid);
}

int DecodeArrayWithArrayMetatable(lua_State* lua) {
  CheckCount(lua, 1);
  BoolOption(lua, 1, SettingsOf(lua).array_metatable);
  return ReturnBool(lua, SettingsOf(lua).array_metatable);
}

int New(lua_State* lua);

constexpr luaL_Reg kJsonFunctions[] = {
    {"decode", Decode},
    {"encode_sparse_array", EncodeSparseArray},
    {"encode_max_depth", EncodeMaxDepth},
    {"decode_max_depth", DecodeMaxDepth},
    {"encode_number_precision", EncodeNumberPrecision},
    {"encode_keep_buffer", EncodeKeepBuffer},
    {"encode_invalid_numbers", EncodeInvalidNumbers},
    {"decode_invalid_numbers", DecodeInvalidNumbers},
    {"decode_array_with_array_mt", DecodeArrayWithArrayMetatable},
    {"new", New},
};

// Replaces the settings on top of the stack by the library that uses them.
void PushFunctions(lua_State* lua) {
  lua_newtable(lua);
  lua_pushvalue(lua, -2);
  PushLongFunction(lua, Encode, 1);
  lua_setfield(lua, -2, "encode");
  for (const luaL_Reg& each : kJsonFunctions) {
    lua_pushvalue(lua, -2);
    lua_pushcclosure(lua, each.func, 1);
    lua_setfield(lua, -2, each.name);
  }
  lua_pushlightuserdata(lua, nullptr);
  lua_setfield(lua, -2, "null");
  lua_pushliteral(lua, "cjson");
  lua_setfield(lua, -2, "_NAME");
  lua_pushliteral(lua, "2.1.0");
  lua_setfield(lua, -2, "_VERSION");
  lua_remove(lua, -2);
}

int New(lua_State* lua) {
  ::new (lua_newuserdata(lua, sizeof(JsonSettings))) JsonSettings();
  PushFunctions(lua);
  return 1;
}

}  // namespace

JsonSettings& PushJsonLibrary(lua_State* lua) {
  lua_pushlightuserdata(lua, &array_metatable_key);
  lua_newtable(lua);
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  lua_rawset(lua, LUA_REGISTRYINDEX);
  auto* const settings = ::new (lua_newuserdata(lua, sizeof(JsonSettings))) JsonSettings();
  PushFunctions(lua);
  return *settings;
}

void Reset(JsonSettings& settings) { settings = JsonSettings(); }

}  // namespace zsetd
