#include "server/scripting/msgpack.h"

#include <msgpuck.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace zsetd {
namespace {

constexpr int kMostNested = 16;  // as lua-cmsgpack

class Packer {
 public:
  explicit Packer(lua_State* lua) : lua_(lua) {}

  const std::string& bytes() const { return bytes_; }
  void Clear() { bytes_.clear(); }

  // Packs the value on top of the stack.
  void Pack(int depth) {
    luaL_checkstack(lua_, 5, "in function mp_encode_lua_type");
    switch (lua_type(lua_, -1)) {
      case LUA_TSTRING:
        return PackString();
      case LUA_TBOOLEAN:
        return Write([this](char* to) { return mp_encode_bool(to, lua_toboolean(lua_, -1) != 0); });
      case LUA_TNUMBER:
        return PackNumber(lua_tonumber(lua_, -1));
      case LUA_TTABLE:
        if (depth < kMostNested) return PackTable(depth);
        [[fallthrough]];
      default:
        return Write(mp_encode_nil);
    }
  }

 private:
  static constexpr size_t kMostHeaderBytes = 9;

  // `encode` writes a few bytes and returns their end.
  template <class Encode>
  void Write(Encode encode) {
    char element[kMostHeaderBytes];
    bytes_.append(element, static_cast<size_t>(encode(element) - element));
  }

  void PackString() {
    size_t size = 0;
    const char* const text = lua_tolstring(lua_, -1, &size);
    if (size > UINT32_MAX) luaL_error(lua_, "string is too long");
    Write([size](char* to) { return mp_encode_strl(to, static_cast<uint32_t>(size)); });
    bytes_.append(text, size);
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

  void PackTable(int depth) {
    uint32_t pairs = 0;
    const bool is_array = CountPairs(pairs);
    if (is_array) {
      Write([=](char* to) { return mp_encode_array(to, pairs); });
      for (uint32_t i = 1; i <= pairs; ++i) {
        lua_rawgeti(lua_, -1, static_cast<int>(i));
        Pack(depth + 1);
        lua_pop(lua_, 1);
      }
      return;
    }
    Write([=](char* to) { return mp_encode_map(to, pairs); });
    for (lua_pushnil(lua_); lua_next(lua_, -2) != 0; lua_pop(lua_, 1)) {
      lua_pushvalue(lua_, -2);
      Pack(depth + 1);
      lua_pop(lua_, 1);
      Pack(depth + 1);
    }
  }

  // Whether the keys are 1..pairs.
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

  lua_State* lua_;
  std::string bytes_;
};

// Reads values from bytes that anyone may have made up. Memory follows what is there, not what a
// header announces.
class Unpacker {
 public:
  Unpacker(lua_State* lua, std::string_view bytes)
      : lua_(lua), at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool AtEnd() const { return at_ == end_; }
  const char* at() const { return at_; }

  // Pushes the next value.
  void Unpack() {
    luaL_checkstack(lua_, 4, "in function mp_decode_to_lua_type");
    if (AtEnd()) Missing();
    switch (mp_typeof(*at_)) {
      case MP_NIL:
        mp_decode_nil(&at_);
        return lua_pushnil(lua_);
      case MP_BOOL:
        return lua_pushboolean(lua_, mp_decode_bool(&at_));
      case MP_UINT:
        Need(mp_check_uint(at_, end_));
        return lua_pushnumber(lua_, static_cast<lua_Number>(mp_decode_uint(&at_)));
      case MP_INT:
        Need(mp_check_int(at_, end_));
        return lua_pushnumber(lua_, static_cast<lua_Number>(mp_decode_int(&at_)));
      case MP_FLOAT:
        Need(mp_check_float(at_, end_));
        return lua_pushnumber(lua_, static_cast<lua_Number>(mp_decode_float(&at_)));
      case MP_DOUBLE:
        Need(mp_check_double(at_, end_));
        return lua_pushnumber(lua_, mp_decode_double(&at_));
      case MP_STR:
        Need(mp_check_strl(at_, end_));
        return PushBytes(mp_decode_strl(&at_));
      case MP_BIN:
        Need(mp_check_binl(at_, end_));
        return PushBytes(mp_decode_binl(&at_));
      case MP_ARRAY:
        Need(mp_check_array(at_, end_));
        return UnpackArray(mp_decode_array(&at_));
      case MP_MAP:
        Need(mp_check_map(at_, end_));
        return UnpackMap(mp_decode_map(&at_));
      default:
        luaL_error(lua_, "Bad data format in input.");
    }
  }

 private:
  void Missing() { luaL_error(lua_, "Missing bytes in input."); }

  // `beyond` is how many bytes of a header are beyond the end, if that is positive.
  void Need(ptrdiff_t beyond) {
    if (beyond > 0) Missing();
  }

  size_t left() const { return static_cast<size_t>(end_ - at_); }

  void PushBytes(uint32_t size) {
    if (size > left()) Missing();
    lua_pushlstring(lua_, at_, size);
    at_ += size;
  }

  void UnpackArray(uint32_t count) {
    if (count > left()) Missing();
    lua_newtable(lua_);
    for (uint32_t i = 1; i <= count; ++i) {
      Unpack();
      lua_rawseti(lua_, -2, static_cast<int>(i));
    }
  }

  void UnpackMap(uint32_t pairs) {
    if (pairs > left() / 2) Missing();
    lua_newtable(lua_);
    for (uint32_t i = 0; i < pairs; ++i) {
      Unpack();
      const bool is_key = !lua_isnil(lua_, -1) && !IsNan();
      Unpack();
      if (!is_key) luaL_error(lua_, "Bad data format in input.");
      lua_rawset(lua_, -3);
    }
  }

  bool IsNan() { return lua_type(lua_, -1) == LUA_TNUMBER && std::isnan(lua_tonumber(lua_, -1)); }

  lua_State* lua_;
  const char* at_;
  const char* end_;
};

// Each argument by itself, all of them in one string.
int Pack(lua_State* lua) {
  const int count = lua_gettop(lua);
  luaL_argcheck(lua, count > 0, 0, "MessagePack pack needs input.");
  luaL_checkstack(lua, count, "Too many arguments for MessagePack pack.");
  Packer packer(lua);
  for (int i = 1; i <= count; ++i) {
    lua_pushvalue(lua, i);
    packer.Pack(0);
    lua_pop(lua, 1);
  }
  lua_pushlstring(lua, packer.bytes().data(), packer.bytes().size());
  return 1;
}

// Unpacks `limit` values from `offset` on, or all if both are 0. Otherwise the first result is the
// offset where the next begins, or -1 at the end.
int UnpackSome(lua_State* lua, lua_Integer limit, lua_Integer offset) {
  size_t size = 0;
  const char* const bytes = luaL_checklstring(lua, 1, &size);
  if (offset < 0 || limit < 0) {
    return luaL_error(lua, "Invalid request to unpack with offset of %d and limit of %d.",
                      static_cast<int>(offset), static_cast<int>(size));
  }
  if (static_cast<size_t>(offset) > size) {
    return luaL_error(lua, "Start offset %d greater than input length %d.",
                      static_cast<int>(offset), static_cast<int>(size));
  }
  const bool all = limit == 0 && offset == 0;
  if (all) limit = std::numeric_limits<int>::max();
  Unpacker unpacker(lua, std::string_view(bytes + offset, size - static_cast<size_t>(offset)));
  int count = 0;
  if (!all) lua_pushnil(lua);
  for (; !unpacker.AtEnd() && count < limit; ++count) {
    luaL_checkstack(lua, 1, "in function mp_unpack_full");
    unpacker.Unpack();
  }
  if (all) return count;
  lua_pushinteger(lua, unpacker.AtEnd() ? -1 : static_cast<lua_Integer>(unpacker.at() - bytes));
  lua_replace(lua, -count - 2);
  return count + 1;
}

int Unpack(lua_State* lua) { return UnpackSome(lua, 0, 0); }

int UnpackOne(lua_State* lua) {
  const lua_Integer offset = luaL_optinteger(lua, 2, 0);
  lua_settop(lua, 1);
  return UnpackSome(lua, 1, offset);
}

int UnpackLimit(lua_State* lua) {
  const lua_Integer limit = luaL_checkinteger(lua, 2);
  const lua_Integer offset = luaL_optinteger(lua, 3, 0);
  lua_settop(lua, 1);
  return UnpackSome(lua, limit, offset);
}

constexpr luaL_Reg kFunctions[] = {
    {"pack", Pack},
    {"unpack", Unpack},
    {"unpack_one", UnpackOne},
    {"unpack_limit", UnpackLimit},
};

}  // namespace

void PushMsgPackLibrary(lua_State* lua) {
  lua_newtable(lua);
  for (const luaL_Reg& each : kFunctions) {
    lua_pushcfunction(lua, each.func);
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
