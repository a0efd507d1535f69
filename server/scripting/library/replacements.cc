#include "server/scripting/library/replacements.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

namespace zsetd {
namespace {

// Copies an element: t[to] = t[from], where t is the table in argument 1.
void Copy(lua_State* lua, int from, int to) {
  lua_rawgeti(lua, 1, from);
  lua_rawseti(lua, 1, to);
}

void Remove(lua_State* lua, int index) {
  lua_pushnil(lua);
  lua_rawseti(lua, 1, index);
}

// Returns the indexes of the elements from `first` to 0, the largest first.
std::vector<int> IndexesUpToZero(lua_State* lua, int first) {
  std::vector<int> indexes;
  for (lua_pushnil(lua); lua_next(lua, 1) != 0; lua_pop(lua, 1)) {
    if (lua_type(lua, -2) != LUA_TNUMBER) continue;
    const lua_Number key = lua_tonumber(lua, -2);
    if (key >= first && key <= 0 && std::floor(key) == key) {
      indexes.push_back(static_cast<int>(key));
    }
  }
  std::ranges::sort(indexes, std::greater<>());
  return indexes;
}

// Moves the elements from `first` to 0 up by one. `first` is not positive. Overwrites element 1.
void MoveUpToZero(lua_State* lua, int first) {
  const std::vector<int> indexes = IndexesUpToZero(lua, first);
  int vacant = 1;  // the index above the next element, which must become empty
  for (const int index : indexes) {
    if (index + 1 != vacant) Remove(lua, vacant);
    Copy(lua, index, index + 1);
    vacant = index;
  }
  Remove(lua, vacant);
}

// The low 32 bits of an integer, computed as in Lua BitOp.
uint32_t BitsArgument(lua_State* lua, int index) {
  constexpr double kBias = 6755399441055744.0;  // 2^52 + 2^51
  const double biased = luaL_checknumber(lua, index) + kBias;
  uint64_t raw = 0;
  std::memcpy(&raw, &biased, sizeof(raw));
  return static_cast<uint32_t>(raw);
}

}  // namespace

int TableInsert(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  const int end = static_cast<int>(lua_objlen(lua, 1)) + 1;
  switch (lua_gettop(lua)) {
    case 2:
      lua_rawseti(lua, 1, end);
      return 0;
    case 3: {
      const int position = static_cast<int>(luaL_checkinteger(lua, 2));
      for (int i = end; i > std::max(position, 1); --i) Copy(lua, i - 1, i);
      if (position < 1) MoveUpToZero(lua, position);
      lua_rawseti(lua, 1, position);
      return 0;
    }
    default:
      return luaL_error(lua, "wrong number of arguments to 'insert'");
  }
}

int BitToHex(lua_State* lua) {
  constexpr int64_t kMostDigits = 8;
  uint32_t bits = BitsArgument(lua, 1);
  const int64_t wanted =
      lua_isnone(lua, 2) ? kMostDigits : static_cast<int32_t>(BitsArgument(lua, 2));
  const char* const digits = wanted < 0 ? "0123456789ABCDEF" : "0123456789abcdef";
  const auto count = static_cast<size_t>(std::min(std::abs(wanted), kMostDigits));
  std::array<char, kMostDigits> text;
  for (size_t i = count; i-- > 0; bits >>= 4) text[i] = digits[bits & 15];
  lua_pushlstring(lua, text.data(), count);
  return 1;
}

}  // namespace zsetd
