#include "server/scripting/library/msgpack.h"

#include <msgpuck.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/scripting/interpreter/interpreter.h"
#include "server/scripting/library/library_errors.h"
#include "server/scripting/library/long_call.h"
#include "server/scripting/library/script_buffer.h"

namespace zsetd {
namespace {

constexpr size_t kMostNested = 16;  // as in lua-cmsgpack

// A call of pack. Packs each argument separately and appends the results to one string. The stack
// holds the remaining arguments, the last one first. Above them are the tables that are being
// packed, each followed by its next key if it is a map.
class PackCall : public LongCall {
 public:
  // The stack holds `arguments` values.
  PackCall(lua_State* lua, int arguments) : arguments_(arguments), bytes_(lua) {}

  int Work(lua_State* lua) override {
    lua_ = lua;
    Interpreter& interpreter = Interpreter::Of(lua);
    while (!frames_.empty() || arguments_ > 0) {
      if (frames_.empty()) {
        --arguments_;
        Pack();
      } else {
        Next();
      }
      if (++steps_ < kStepsPerLook) continue;
      steps_ = 0;
      if (interpreter.IsLate(lua)) return kUnfinished;
    }
    bytes_.Push(lua);
    return 1;
  }

 private:
  static constexpr size_t kMostHeaderBytes = 9;
  static constexpr int kStepsPerLook = 5'000;

  // To begin and to end a table: a table that once had millions of keys keeps their slots, and Lua
  // visits all of them to find the next key.
  static constexpr int kStepsOfTable = kStepsPerLook / 4;

  // A table that is being packed.
  struct Frame {
    bool is_array;
    bool has_value;  // for a map: the value of the last key is on top
    uint32_t left;   // elements of an array
    uint32_t packed;
  };

  // `encode` writes a few bytes and returns their end.
  template <class Encode>
  void Write(Encode encode) {
    char element[kMostHeaderBytes];
    bytes_.Append(lua_, {element, static_cast<size_t>(encode(element) - element)});
  }

  // Packs the value on top of the stack and pops it. A table is only begun.
  void Pack() {
    switch (lua_type(lua_, -1)) {
      case LUA_TSTRING:
        PackString();
        break;
      case LUA_TBOOLEAN:
        Write([this](char* to) { return mp_encode_bool(to, lua_toboolean(lua_, -1) != 0); });
        break;
      case LUA_TNUMBER:
        PackNumber(lua_tonumber(lua_, -1));
        break;
      case LUA_TTABLE:
        if (frames_.size() < kMostNested) return BeginTable();
        [[fallthrough]];
      default:
        Write(mp_encode_nil);
    }
    lua_pop(lua_, 1);
  }

  void PackString() {
    size_t size = 0;
    const char* const text = lua_tolstring(lua_, -1, &size);
    if (size > UINT32_MAX) Fail(lua_, "string is too long");
    Write([size](char* to) { return mp_encode_strl(to, static_cast<uint32_t>(size)); });
    bytes_.Append(lua_, {text, size});
  }

  void PackNumber(double number) {
    constexpr double kLimit = 9223372036854775808.0;  // 2^63
    const bool is_integer = number >= -kLimit && number < kLimit && std::floor(number) == number;
    if (is_integer && number >= 0) {
      return Write([=](char* to) { return mp_encode_uint(to, static_cast<uint64_t>(number)); });
    }
    if (is_integer) {
      return Write([=](char* to) { return mp_encode_int(to, static_cast<int64_t>(number)); });
    }
    if (static_cast<double>(static_cast<float>(number)) == number) {
      return Write([=](char* to) { return mp_encode_float(to, static_cast<float>(number)); });
    }
    Write([=](char* to) { return mp_encode_double(to, number); });
  }

  void BeginTable() {
    steps_ += kStepsOfTable;
    CheckStack(lua_, 5, "in function mp_encode_lua_type");
    uint32_t pairs = 0;
    const bool is_array = CountPairs(pairs);
    frames_.push_back({is_array, false, pairs, 0});
    if (is_array) {
      Write([=](char* to) { return mp_encode_array(to, pairs); });
    } else {
      Write([=](char* to) { return mp_encode_map(to, pairs); });
      lua_pushnil(lua_);
    }
  }

  void EndTable() {
    steps_ += kStepsOfTable;
    frames_.pop_back();
    lua_pop(lua_, 1);
  }

  // Packs the next element, key or value of the innermost table.
  void Next() {
    Frame& frame = frames_.back();
    if (frame.is_array) {
      if (frame.packed == frame.left) return EndTable();
      lua_rawgeti(lua_, -1, static_cast<int>(++frame.packed));
    } else if (!std::exchange(frame.has_value, false)) {
      if (lua_next(lua_, -2) == 0) return EndTable();
      frame.has_value = true;
      lua_pushvalue(lua_, -2);
    }
    Pack();
  }

  // Counts the entries. Returns whether the keys are 1..pairs.
  bool CountPairs(uint32_t& pairs) {
    double greatest = 0;
    bool are_indices = true;
    for (lua_pushnil(lua_); lua_next(lua_, -2) != 0; lua_pop(lua_, 1)) {
      ++pairs;
      if (lua_type(lua_, -2) != LUA_TNUMBER) {
        are_indices = false;
        continue;
      }
      const double key = lua_tonumber(lua_, -2);
      are_indices = are_indices && key >= 1 && std::floor(key) == key;
      greatest = std::max(greatest, key);
    }
    return are_indices && greatest == pairs;
  }

  lua_State* lua_ = nullptr;  // valid during Work()
  int arguments_;
  int steps_ = 0;  // since the last look at the clock
  std::vector<Frame> frames_;
  ScriptBuffer bytes_;
};

int Pack(lua_State* lua) {
  const int count = lua_gettop(lua);
  if (count == 0) FailArgument(lua, 0, "pack", "MessagePack pack needs input.");
  CheckStack(lua, 5, "Too many arguments for MessagePack pack.");
  for (int i = 1, j = count; i < j; ++i, --j) {  // reverses the arguments
    lua_pushvalue(lua, i);
    lua_pushvalue(lua, j);
    lua_replace(lua, i);
    lua_replace(lua, j);
  }
  return StartCall(lua, PackCall(lua, count));
}

// A call of unpack, unpack_one or unpack_limit. The bytes may come from any client, so the memory
// depends on the bytes that exist, not on the size that a header announces.
//
// The stack holds the bytes, then the complete values. Above them are the tables that are being
// built, each followed by the key of its next value if it is a map.
class UnpackCall : public LongCall {
 public:
  // Unpacks `limit` values from `offset` on. If `tells_offset` is set, the first result is the
  // offset of the next value, or -1 at the end.
  UnpackCall(std::string_view bytes, size_t offset, lua_Integer limit, bool tells_offset)
      : begin_(bytes.data()),
        at_(bytes.data() + offset),
        end_(bytes.data() + bytes.size()),
        limit_(limit),
        tells_offset_(tells_offset) {}

  int Work(lua_State* lua) override {
    lua_ = lua;
    Interpreter& interpreter = Interpreter::Of(lua);
    for (int step = 1; !frames_.empty() || (at_ != end_ && count_ < limit_); ++step) {
      if (frames_.empty() || !EndTable()) ReadNext();
      if (step % kStepsPerLook == 0 && interpreter.IsLate(lua)) return kUnfinished;
    }
    if (!tells_offset_) return count_;
    CheckStack(lua_, 2, "in function mp_unpack_full");
    lua_pushinteger(lua_, at_ == end_ ? -1 : static_cast<lua_Integer>(at_ - begin_));
    lua_insert(lua_, -count_ - 1);
    return count_ + 1;
  }

 private:
  static constexpr int kStepsPerLook =
      64;  // an insertion is slow if the hashes of all keys collide

  // A table that is being built.
  struct Frame {
    bool is_array;
    bool has_key;  // for a map: the key of the next value is on top
    uint32_t left;
    uint32_t read;
  };

  [[noreturn]] void FailMissing() { Fail(lua_, "Missing bytes in input."); }
  [[noreturn]] void FailFormat() { Fail(lua_, "Bad data format in input."); }

  // `beyond`: the number of bytes of a header that are missing at the end, if positive.
  void Need(ptrdiff_t beyond) {
    if (beyond > 0) FailMissing();
  }

  size_t left() const { return static_cast<size_t>(end_ - at_); }

  void ReadNext() {
    if (!frames_.empty()) --promised_;
    Read();
  }

  // Reads the next value. A table is only begun.
  void Read() {
    CheckStack(lua_, 4, "in function mp_decode_to_lua_type");
    if (at_ == end_) FailMissing();
    switch (mp_typeof(*at_)) {
      case MP_NIL:
        mp_decode_nil(&at_);
        lua_pushnil(lua_);
        break;
      case MP_BOOL:
        lua_pushboolean(lua_, mp_decode_bool(&at_));
        break;
      case MP_UINT:
        Need(mp_check_uint(at_, end_));
        lua_pushnumber(lua_, static_cast<lua_Number>(mp_decode_uint(&at_)));
        break;
      case MP_INT:
        Need(mp_check_int(at_, end_));
        lua_pushnumber(lua_, static_cast<lua_Number>(mp_decode_int(&at_)));
        break;
      case MP_FLOAT:
        Need(mp_check_float(at_, end_));
        lua_pushnumber(lua_, static_cast<lua_Number>(mp_decode_float(&at_)));
        break;
      case MP_DOUBLE:
        Need(mp_check_double(at_, end_));
        lua_pushnumber(lua_, mp_decode_double(&at_));
        break;
      case MP_STR:
        Need(mp_check_strl(at_, end_));
        PushBytes(mp_decode_strl(&at_));
        break;
      case MP_BIN:
        Need(mp_check_binl(at_, end_));
        PushBytes(mp_decode_binl(&at_));
        break;
      case MP_ARRAY:
        Need(mp_check_array(at_, end_));
        return BeginTable(/*is_array=*/true, mp_decode_array(&at_));
      case MP_MAP:
        Need(mp_check_map(at_, end_));
        return BeginTable(/*is_array=*/false, mp_decode_map(&at_));
      default:
        FailFormat();
    }
    Attach();
  }

  void PushBytes(uint32_t size) {
    if (size > left()) FailMissing();
    lua_pushlstring(lua_, at_, size);
    at_ += size;
  }

  // A table gets its final size, because keys that collide make its growth slow. The elements that
  // all headers together promise have at least one byte each.
  void BeginTable(bool is_array, uint32_t count) {
    promised_ += is_array ? count : size_t{2} * count;
    if (promised_ > left()) FailMissing();
    frames_.push_back({is_array, false, count, 0});
    const int size = static_cast<int>(std::min<uint32_t>(count, INT_MAX));
    lua_createtable(lua_, is_array ? size : 0, is_array ? 0 : size);
  }

  // Ends the innermost table if it is complete.
  bool EndTable() {
    if (frames_.back().read < frames_.back().left || frames_.back().has_key) return false;
    frames_.pop_back();
    Attach();
    return true;
  }

  // Puts the value on top into the innermost table, if any.
  void Attach() {
    if (frames_.empty()) {
      ++count_;
      return;
    }
    Frame& frame = frames_.back();
    if (frame.is_array) {
      return lua_rawseti(lua_, -2, static_cast<int>(++frame.read));
    }
    if (!std::exchange(frame.has_key, !frame.has_key)) return;
    ++frame.read;
    lua_pushvalue(lua_, -2);
    if (lua_isnil(lua_, -1) || IsNan()) FailFormat();
    lua_pop(lua_, 1);
    lua_rawset(lua_, -3);
  }

  bool IsNan() { return lua_type(lua_, -1) == LUA_TNUMBER && std::isnan(lua_tonumber(lua_, -1)); }

  lua_State* lua_ = nullptr;  // valid during Work()
  const char* begin_;
  const char* at_;
  const char* end_;
  lua_Integer limit_;
  size_t promised_ = 0;  // elements, keys and values of `frames_` that are not read yet
  int count_ = 0;
  bool tells_offset_;
  std::vector<Frame> frames_;
};

// Unpacks all values if `limit` and `offset` are 0.
int UnpackSome(lua_State* lua, const char* function, lua_Integer limit, lua_Integer offset) {
  const std::string_view bytes = TextArgument(lua, 1, function);
  const std::string position = std::to_string(static_cast<int>(offset));
  const std::string size = std::to_string(static_cast<int>(bytes.size()));
  if (offset < 0 || limit < 0) {
    Fail(lua,
         "Invalid request to unpack with offset of " + position + " and limit of " + size + ".");
  }
  if (static_cast<size_t>(offset) > bytes.size()) {
    Fail(lua, "Start offset " + position + " greater than input length " + size + ".");
  }
  lua_settop(lua, 1);
  const bool all = limit == 0 && offset == 0;
  if (all) limit = std::numeric_limits<int>::max();
  return StartCall(lua, UnpackCall(bytes, static_cast<size_t>(offset), limit, !all));
}

int Unpack(lua_State* lua) { return UnpackSome(lua, "unpack", 0, 0); }

int UnpackOne(lua_State* lua) {
  return UnpackSome(lua, "unpack_one", 1, OptionalInteger(lua, 2, "unpack_one", 0));
}

int UnpackLimit(lua_State* lua) {
  if (lua_isnumber(lua, 2) == 0) {
    FailArgument(lua, 2, "unpack_limit", WrongType(lua, 2, "number"));
  }
  return UnpackSome(lua, "unpack_limit", lua_tointeger(lua, 2),
                    OptionalInteger(lua, 3, "unpack_limit", 0));
}

constexpr luaL_Reg kMsgpackFunctions[] = {
    {"pack", Pack},
    {"unpack", Unpack},
    {"unpack_one", UnpackOne},
    {"unpack_limit", UnpackLimit},
};

}  // namespace

void PushMsgPackLibrary(lua_State* lua) {
  lua_newtable(lua);
  for (const luaL_Reg& each : kMsgpackFunctions) {
    PushLongFunction(lua, each.func, 0);
    lua_setfield(lua, -2, each.name);
  }
  lua_pushliteral(lua, "cmsgpack");
  lua_setfield(lua, -2, "_NAME");
  lua_pushliteral(lua, "lua-cmsgpack 0.4.0");
  lua_setfield(lua, -2, "_VERSION");
  lua_pushliteral(lua, "MessagePack for Lua");
  lua_setfield(lua, -2, "_DESCRIPTION");
}

}  // namespace zsetd
