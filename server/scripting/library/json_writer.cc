#include "server/scripting/library/json_writer.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/scripting/interpreter/interpreter.h"
#include "server/scripting/library/json_settings.h"
#include "server/scripting/library/library_errors.h"
#include "server/scripting/library/long_call.h"
#include "server/scripting/library/script_buffer.h"

namespace zsetd {
namespace {

std::string_view StringAt(lua_State* lua, int index) {
  size_t size = 0;
  const char* const text = lua_tolstring(lua, index, &size);
  return {text, size};
}

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
    while (!frames_.empty()) {
      if (frames_.back().is_array) {
        NextElement();
      } else {
        NextField();
      }
      if (++steps_ < kStepsPerLook) continue;
      steps_ = 0;
      if (interpreter.IsLate(lua)) return kUnfinished;
    }
    text_.Push(lua);
    return 1;
  }

 private:
  static constexpr int kStepsPerLook = 5'000;

  // To begin and to end a table: a table that once had millions of keys keeps their slots, and Lua
  // visits all of them to find the next key.
  static constexpr int kStepsOfTable = kStepsPerLook / 4;

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
        AppendString(StringAt(lua_, -1));
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
    steps_ += kStepsOfTable;
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
    steps_ += kStepsOfTable;
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
      AppendString(StringAt(lua_, -1));
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
    PushArrayMetatable(lua_);
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
  int steps_ = 0;  // since the last look at the clock
  bool has_begun_ = false;
};

}  // namespace

int EncodeJson(lua_State* lua) {
  if (lua_gettop(lua) != 1) FailArgument(lua, 1, "encode", "expected 1 argument");
  return StartCall(lua, EncodeCall(lua, JsonSettingsOf(lua)));
}

}  // namespace zsetd
