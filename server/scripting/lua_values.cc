#include "server/scripting/lua_values.h"

#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "core/hash/hash.h"
#include "core/util/time.h"
#include "protocol/text/number_text.h"
#include "server/engine/call.h"
#include "server/scripting/interpreter/interpreter.h"

namespace zsetd {
namespace {

void PushText(lua_State* lua, std::string_view text) {
  lua_pushlstring(lua, text.data(), text.size());
}

// Reads one reply and pushes its value. The reply comes from this server, so it is well-formed.
class ReplyPusher {
 public:
  ReplyPusher(lua_State* lua, std::string_view bytes) : lua_(lua), bytes_(bytes) {}

  void Push() {
    luaL_checkstack(lua_, 4, "a reply is nested too deep");
    const std::string_view line = Line();
    assert(!line.empty());
    const std::string_view text = line.substr(1);
    switch (line[0]) {
      case ':':
        return lua_pushnumber(lua_, static_cast<lua_Number>(Number(text)));
      case '$':
        return text[0] == '-' ? lua_pushboolean(lua_, 0) : PushText(lua_, Bytes(Number(text)));
      case '+':
        return Field("ok", text);
      case '-':
        return PushError(lua_, text, /*is_counted=*/true);
      case '*':
        return text[0] == '-' ? lua_pushboolean(lua_, 0) : Array(Number(text));
      case '%':
        return Map(Number(text));
      case '~':
        return Set(Number(text));
      case '_':
        return lua_pushnil(lua_);
      case '#':
        return lua_pushboolean(lua_, text == "t");
      case ',':
        return Double(text);
      case '(':
        return Field("big_number", text);
      case '=':
        return Verbatim(Bytes(Number(text)));
      default:
        return lua_pushnil(lua_);
    }
  }

 private:
  std::string_view Line() {
    const size_t end = bytes_.find('\r');
    assert(end != std::string_view::npos);
    const std::string_view line = bytes_.substr(0, end);
    bytes_.remove_prefix(end + 2);
    return line;
  }

  std::string_view Bytes(int64_t count) {
    const std::string_view bytes = bytes_.substr(0, static_cast<size_t>(count));
    bytes_.remove_prefix(static_cast<size_t>(count) + 2);
    return bytes;
  }

  static int64_t Number(std::string_view text) {
    int64_t number = 0;
    ReadInteger(text, number);
    return number;
  }

  void Field(const char* name, std::string_view text) {
    lua_createtable(lua_, 0, 1);
    PushText(lua_, text);
    lua_setfield(lua_, -2, name);
  }

  void Double(std::string_view text) {
    double number = 0;
    if (text == "nan")
      number = std::nan("");
    else
      ReadDouble(text, number);
    lua_createtable(lua_, 0, 1);
    lua_pushnumber(lua_, number);
    lua_setfield(lua_, -2, "double");
  }

  void Verbatim(std::string_view bytes) {
    lua_createtable(lua_, 0, 1);
    lua_createtable(lua_, 0, 2);
    PushText(lua_, bytes.substr(4));
    lua_setfield(lua_, -2, "string");
    PushText(lua_, bytes.substr(0, 3));
    lua_setfield(lua_, -2, "format");
    lua_setfield(lua_, -2, "verbatim_string");
  }

  void Array(int64_t count) {
    lua_createtable(lua_, static_cast<int>(count), 0);
    for (int i = 1; i <= count; ++i) {
      Push();
      lua_rawseti(lua_, -2, i);
    }
  }

  void Map(int64_t pairs) {
    lua_createtable(lua_, 0, 1);
    lua_createtable(lua_, 0, static_cast<int>(pairs));
    for (int64_t i = 0; i < pairs; ++i) {
      Push();
      Push();
      lua_rawset(lua_, -3);
    }
    lua_setfield(lua_, -2, "map");
  }

  void Set(int64_t count) {
    lua_createtable(lua_, 0, 1);
    lua_createtable(lua_, 0, static_cast<int>(count));
    for (int64_t i = 0; i < count; ++i) {
      Push();
      lua_pushboolean(lua_, 1);
      lua_rawset(lua_, -3);
    }
    lua_setfield(lua_, -2, "set");
  }

  lua_State* lua_;
  std::string_view bytes_;
};

// The fast path for the most common reply, an integer of a few digits. Returns false for any other.
bool PushShortInteger(lua_State* lua, std::string_view reply) {
  constexpr size_t kMostDigits = 9;
  constexpr size_t kAround = 3;  // the colon and the end of the line
  if (reply[0] != ':' || reply.size() > kMostDigits + kAround) return false;
  int number = 0;
  for (const char digit : reply.substr(1, reply.size() - kAround)) {
    if (digit < '0' || digit > '9') return false;
    number = number * 10 + (digit - '0');
  }
  lua_pushnumber(lua, number);
  return true;
}

// Writes values as replies. Uses the top of the stack, and leaves the stack unchanged.
class ValueWriter {
 public:
  ValueWriter(lua_State* lua, Call& call, bool resp3)
      : lua_(lua),
        reply_(call.reply),
        out_(call.caller.replies),
        interpreter_(Interpreter::Of(lua)),
        resp3_(resp3),
        most_bytes_(call.reply.most_bytes()),
        start_(out_.size()) {}

  bool has_too_many() const { return work_ > kMostWork || is_late_; }

  // Returns false if the value is nested too deep for a reply, or has too many elements.
  bool Write() {
    work_ += lua_istable(lua_, -1) ? kWorkOfTable : 1;
    if (has_too_many()) return false;
    if (reply_.IsFull() || out_.size() - start_ > most_bytes_) return true;
    if (lua_checkstack(lua_, 4) == 0) return false;
    switch (lua_type(lua_, -1)) {
      case LUA_TSTRING:
        reply_.Bulk(Text(-1));
        return true;
      case LUA_TNUMBER:
        reply_.Integer(Integer(lua_tonumber(lua_, -1)));
        return true;
      case LUA_TBOOLEAN:
        WriteBool(lua_toboolean(lua_, -1) != 0);
        return true;
      case LUA_TTABLE:
        return WriteTable();
      default:
        reply_.Null();
        return true;
    }
  }

 private:
  // A table may have another one many times, so a small value may be an endless reply. This much
  // takes about a second: a table takes as long as some other elements, because its fields are
  // read.
  static constexpr size_t kMostWork = 16'000'000;
  static constexpr size_t kWorkOfTable = 8;

  // A table that once had millions of keys keeps their slots, and each walk visits all of them. Lua
  // does not tell their number, so the walks over the pairs of tables are timed.
  static constexpr Micros kMostTime{2'000'000};

  std::string_view Text(int index) {
    size_t size = 0;
    const char* const text = lua_tolstring(lua_, index, &size);
    return {text, size};
  }

  // Converts like the processor: a number out of range becomes the smallest integer.
  static int64_t Integer(double number) {
    constexpr double kLimit = 9223372036854775808.0;
    if (!(number >= -kLimit && number < kLimit)) return INT64_MIN;
    return static_cast<int64_t>(number);
  }

  void WriteBool(bool value) {
    if (resp3_) return reply_.Bool(value);
    if (value) {
      reply_.Integer(1);
    } else {
      reply_.Null();
    }
  }

  // Pushes the table's own field and returns true if it has this type. Otherwise pushes nothing.
  bool Has(const char* name, int type) {
    lua_pushstring(lua_, name);
    lua_rawget(lua_, -2);
    if (lua_type(lua_, -1) == type) return true;
    lua_pop(lua_, 1);
    return false;
  }

  bool WriteTable() {
    bool written = true;
    if (Has("err", LUA_TSTRING)) {
      reply_.NestedError(OneLine(Text(-1)));
    } else if (Has("ok", LUA_TSTRING)) {
      reply_.Simple(OneLine(Text(-1)));
    } else if (Has("double", LUA_TNUMBER)) {
      reply_.Double(lua_tonumber(lua_, -1));
    } else if (Has("map", LUA_TTABLE)) {
      written = WriteMap();
    } else if (Has("set", LUA_TTABLE)) {
      written = WriteSet();
    } else if (Has("big_number", LUA_TSTRING)) {
      reply_.BigNumber(OneLine(Text(-1)));
    } else if (Has("verbatim_string", LUA_TTABLE)) {
      if (!WriteVerbatim()) {
        lua_pop(lua_, 1);
        return WriteArray();
      }
    } else {
      return WriteArray();
    }
    lua_pop(lua_, 1);
    return written;
  }

  static std::string OneLine(std::string_view text) {
    std::string line(text);
    for (char& byte : line) {
      if (byte == '\r' || byte == '\n') byte = ' ';
    }
    return line;
  }

  size_t PairCount() {
    size_t count = 0;
    for (lua_pushnil(lua_); lua_next(lua_, -2) != 0; lua_pop(lua_, 1)) ++count;
    return count;
  }

  // Whether the tables with pairs have taken too long.
  bool IsLate() {
    const Micros now = interpreter_.Now();
    if (!until_) until_ = now + kMostTime;
    is_late_ = now > *until_;
    return is_late_;
  }

  bool WriteMap() {
    if (IsLate()) return false;
    reply_.Map(PairCount());
    for (lua_pushnil(lua_); lua_next(lua_, -2) != 0; lua_pop(lua_, 1)) {
      lua_pushvalue(lua_, -2);
      const bool key_written = Write();
      lua_pop(lua_, 1);
      if (!key_written || !Write()) {
        lua_pop(lua_, 2);
        return false;
      }
    }
    return true;
  }

  bool WriteSet() {
    if (IsLate()) return false;
    reply_.Set(PairCount());
    for (lua_pushnil(lua_); lua_next(lua_, -2) != 0;) {
      lua_pop(lua_, 1);
      if (!Write()) {
        lua_pop(lua_, 1);
        return false;
      }
    }
    return true;
  }

  bool WriteVerbatim() {
    if (!Has("format", LUA_TSTRING)) return false;
    const std::string format(Text(-1));
    lua_pop(lua_, 1);
    if (!Has("string", LUA_TSTRING)) return false;
    std::string three = format.substr(0, 3);
    three.resize(3, ' ');
    reply_.Verbatim(OneLine(three), Text(-1));
    lua_pop(lua_, 1);
    return true;
  }

  bool WriteArray() {
    size_t count = 0;
    const size_t border = lua_objlen(lua_, -1);
    while (count < border && !IsNil(count + 1)) ++count;
    while (count >= border && !IsNil(count + 1)) ++count;
    reply_.Array(count);
    for (size_t i = 1; i <= count; ++i) {
      lua_rawgeti(lua_, -1, static_cast<int>(i));
      const bool written = Write();
      lua_pop(lua_, 1);
      if (!written) return false;
    }
    return true;
  }

  bool IsNil(size_t index) {
    lua_rawgeti(lua_, -1, static_cast<int>(index));
    const bool is_nil = lua_isnil(lua_, -1);
    lua_pop(lua_, 1);
    return is_nil;
  }

  lua_State* lua_;
  ReplyWriter& reply_;
  OutputBuffer& out_;
  const Interpreter& interpreter_;
  std::optional<Micros> until_;  // set by the first table with pairs
  bool resp3_;
  size_t most_bytes_;
  size_t start_;
  size_t work_ = 0;  // in elements that are no tables
  bool is_late_ = false;
};

bool IsError(lua_State* lua) {
  if (!lua_istable(lua, -1)) return false;
  lua_pushliteral(lua, "err");
  lua_rawget(lua, -2);
  const bool is_error = lua_type(lua, -1) == LUA_TSTRING;
  lua_pop(lua, 1);
  return is_error;
}

}  // namespace

void PushArray(lua_State* lua, Args strings) {
  lua_createtable(lua, static_cast<int>(strings.size()), 0);
  int index = 0;
  for (const std::string_view text : strings) {
    PushText(lua, text);
    lua_rawseti(lua, -2, ++index);
  }
}

void PushReply(lua_State* lua, std::string_view reply) {
  if (!PushShortInteger(lua, reply)) ReplyPusher(lua, reply).Push();
}

void ReplyWithValue(lua_State* lua, Call& call, bool resp3) {
  if (IsError(lua)) {
    const ErrorText error = TextOfError(lua, -1);
    if (error.is_counted) {
      call.FailCounted(error.line);
    } else {
      call.Fail(error.line);
    }
  } else if (ValueWriter writer(lua, call, resp3); !writer.Write()) {
    call.Fail(writer.has_too_many() ? "ERR the reply of the script has too many elements"
                                    : "ERR reached lua stack limit");
  }
  lua_pop(lua, 1);
}

void PushError(lua_State* lua, std::string_view line, bool is_counted) {
  lua_createtable(lua, 0, is_counted ? 2 : 1);
  if (line.find(' ') == std::string_view::npos) {
    lua_pushliteral(lua, "ERR ");
    PushText(lua, line);
    lua_concat(lua, 2);
  } else {
    PushText(lua, line);
  }
  lua_setfield(lua, -2, "err");
  if (!is_counted) return;
  lua_pushboolean(lua, 1);
  lua_setfield(lua, -2, "ignore_error_stats_update");
}

ErrorText TextOfError(lua_State* lua, int index) {
  if (index < 0) index = lua_gettop(lua) + index + 1;
  ErrorText error;
  size_t size = 0;
  if (lua_istable(lua, index)) {
    lua_pushliteral(lua, "ignore_error_stats_update");
    lua_rawget(lua, index);
    error.is_counted = lua_toboolean(lua, -1) != 0;
    lua_pushliteral(lua, "err");
    lua_rawget(lua, index);
    const bool has_text = lua_type(lua, -1) == LUA_TSTRING;
    const char* const text = has_text ? lua_tolstring(lua, -1, &size) : nullptr;
    error.line = has_text ? std::string(text, size) : "ERR unknown error";
    lua_pop(lua, 2);
    return error;
  }
  lua_pushvalue(lua, index);
  const char* text = lua_tolstring(lua, -1, &size);  // also converts a number
  if (text != nullptr) {
    error.line = "ERR " + std::string(text, size);
  } else if (lua_isboolean(lua, -1)) {
    error.line = lua_toboolean(lua, -1) != 0 ? "ERR true" : "ERR false";
  } else {
    error.line = "ERR " + std::string(lua_typename(lua, lua_type(lua, -1)));
  }
  lua_pop(lua, 1);
  return error;
}

}  // namespace zsetd
