#include "server/scripting/library/json.h"

#include <climits>
#include <cstdio>
#include <new>

#include "server/scripting/library/json_reader.h"
#include "server/scripting/library/json_settings.h"
#include "server/scripting/library/json_writer.h"
#include "server/scripting/library/long_call.h"

namespace zsetd {
namespace {

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
  JsonSettings& settings = JsonSettingsOf(lua);
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
  IntegerOption(lua, 1, 1, INT_MAX, JsonSettingsOf(lua).encode_max_depth);
  return ReturnInteger(lua, JsonSettingsOf(lua).encode_max_depth);
}

int DecodeMaxDepth(lua_State* lua) {
  CheckCount(lua, 1);
  IntegerOption(lua, 1, 1, INT_MAX, JsonSettingsOf(lua).decode_max_depth);
  return ReturnInteger(lua, JsonSettingsOf(lua).decode_max_depth);
}

int EncodeNumberPrecision(lua_State* lua) {
  CheckCount(lua, 1);
  IntegerOption(lua, 1, 1, 14, JsonSettingsOf(lua).precision);
  return ReturnInteger(lua, JsonSettingsOf(lua).precision);
}

int EncodeKeepBuffer(lua_State* lua) {
  CheckCount(lua, 1);
  BoolOption(lua, 1, JsonSettingsOf(lua).keep_buffer);
  return ReturnBool(lua, JsonSettingsOf(lua).keep_buffer);
}

int EncodeInvalidNumbers(lua_State* lua) {
  constexpr const char* kWords[] = {"off", "on", "null", nullptr};
  CheckCount(lua, 1);
  int& setting = JsonSettingsOf(lua).encode_invalid;
  EnumOption(lua, 1, kWords, setting);
  if (setting < 2) return ReturnBool(lua, setting == 1);
  lua_pushstring(lua, kWords[setting]);
  return 1;
}

int DecodeInvalidNumbers(lua_State* lua) {
  CheckCount(lua, 1);
  BoolOption(lua, 1, JsonSettingsOf(lua).decode_invalid);
  return ReturnBool(lua, JsonSettingsOf(lua).decode_invalid);
}

int DecodeArrayWithArrayMetatable(lua_State* lua) {
  CheckCount(lua, 1);
  BoolOption(lua, 1, JsonSettingsOf(lua).array_metatable);
  return ReturnBool(lua, JsonSettingsOf(lua).array_metatable);
}

int New(lua_State* lua);

constexpr luaL_Reg kJsonFunctions[] = {
    {"decode", DecodeJson},
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
  PushLongFunction(lua, EncodeJson, 1);
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
