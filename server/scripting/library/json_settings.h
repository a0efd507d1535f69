#pragma once

#include <lua.hpp>

namespace zsetd {

// The settings of one instance of cjson. A script changes them by functions of the library.
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

// Returns the settings of the instance whose function is running: they are its first upvalue.
inline JsonSettings& JsonSettingsOf(lua_State* lua) {
  return *static_cast<JsonSettings*>(lua_touserdata(lua, lua_upvalueindex(1)));
}

// The metatable that marks a table as an array, also if it is empty. PushJsonLibrary creates it.
inline char array_metatable_key;  // its address is the key in the registry

inline void PushArrayMetatable(lua_State* lua) {
  lua_pushlightuserdata(lua, &array_metatable_key);
  lua_rawget(lua, LUA_REGISTRYINDEX);
}

}  // namespace zsetd
