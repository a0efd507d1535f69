#include "server/scripting/library/struct_pack.h"

#include <algorithm>
#include <bit>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "server/scripting/interpreter/interpreter.h"
#include "server/scripting/library/script_buffer.h"

namespace zsetd {
namespace {

constexpr size_t kMostIntegerBytes = 32;
constexpr size_t kNaturalAlignment = 8;

// One element of a format.
struct Option {
  char kind = 0;
  size_t size = 0;
};

// Reads a format from left to right: the next element and its alignment.
class Format {
 public:
  Format(lua_State* lua, const char* text) : lua_(lua), text_(text) {}

  bool AtEnd() const { return *text_ == '\0'; }
  bool is_little() const { return is_little_; }

  // Returns the next element. An element that only changes how others are read has `kind` 0.
  Option Next() {
    const char kind = *text_++;
    switch (kind) {
      case 'B':
      case 'b':
      case 'x':
        return {kind, 1};
      case 'H':
      case 'h':
        return {kind, sizeof(short)};
      case 'L':
      case 'l':
        return {kind, sizeof(long)};
      case 'T':
        return {kind, sizeof(size_t)};
      case 'f':
        return {kind, sizeof(float)};
      case 'd':
        return {kind, sizeof(double)};
      case 's':
        return {kind, 0};
      case 'c':
        return {kind, Number(1)};
      case 'i':
      case 'I':
        return {kind, IntegerSize()};
      case ' ':
        return {};
      case '>':
        is_little_ = false;
        return {};
      case '<':
        is_little_ = true;
        return {};
      case '!':
        SetAlignment();
        return {};
      default:
        luaL_argerror(lua_, 1, lua_pushfstring(lua_, "invalid format option '%c'", kind));
    }
    return {};
  }

  // The number of padding bytes before this element, if the data so far has `total` bytes.
  size_t Padding(const Option& option, size_t total) const {
    if (option.size == 0 || option.kind == 'c') return 0;
    const size_t unit = std::min(option.size, alignment_);
    return unit <= 1 ? 0 : (unit - (total & (unit - 1))) & (unit - 1);
  }

 private:
  static bool IsDigit(char byte) { return byte >= '0' && byte <= '9'; }

  size_t Number(size_t otherwise) {
    if (!IsDigit(*text_)) return otherwise;
    size_t number = 0;
    for (; IsDigit(*text_); ++text_) {
      const auto digit = static_cast<size_t>(*text_ - '0');
      if (number > (INT_MAX - digit) / 10) luaL_error(lua_, "integral size overflow");
      number = number * 10 + digit;
    }
    return number;
  }

  size_t IntegerSize() {
    const size_t size = Number(sizeof(int));
    if (size > kMostIntegerBytes) {
      luaL_error(lua_, "integral size %d is larger than limit of %d", static_cast<int>(size),
                 static_cast<int>(kMostIntegerBytes));
    }
    return size;
  }

  void SetAlignment() {
    const size_t alignment = Number(kNaturalAlignment);
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
      luaL_error(lua_, "alignment %d is not a power of 2", static_cast<int>(alignment));
    }
    alignment_ = alignment;
  }

  lua_State* lua_;
  const char* text_;
  bool is_little_ = std::endian::native == std::endian::little;
  size_t alignment_ = 1;
};

bool IsInteger(char kind) {
  return std::string_view("bBhHlLTiI").find(kind) != std::string_view::npos;
}
bool IsSigned(char kind) { return kind >= 'a' && kind <= 'z'; }

// --- pack ---

void AppendInteger(lua_State* lua, int argument, const Option& option, bool is_little,
                   ScriptBuffer& bytes) {
  const lua_Number number = luaL_checknumber(lua, argument);
  constexpr lua_Number kLimit = 9223372036854775808.0;
  const uint64_t value =
      number < 0            ? static_cast<uint64_t>(static_cast<int64_t>(std::max(number, -kLimit)))
      : number < kLimit     ? static_cast<uint64_t>(number)
      : number < 2 * kLimit ? static_cast<uint64_t>(number)
                            : UINT64_MAX;
  const size_t start = bytes.size();
  for (size_t i = 0; i < option.size; ++i) {
    bytes.Append(lua, i < sizeof(value) ? static_cast<char>(value >> (8 * i)) : '\0');
  }
  if (!is_little) bytes.Reverse(start);
}

template <class Float>
void AppendFloat(lua_State* lua, int argument, bool is_little, ScriptBuffer& bytes) {
  const auto value = static_cast<Float>(luaL_checknumber(lua, argument));
  char raw[sizeof(Float)];
  std::memcpy(raw, &value, sizeof(raw));
  if (is_little != (std::endian::native == std::endian::little))
    std::reverse(raw, raw + sizeof(raw));
  bytes.Append(lua, {raw, sizeof(raw)});
}

void AppendString(lua_State* lua, int argument, Option option, ScriptBuffer& bytes) {
  size_t size = 0;
  const char* const text = luaL_checklstring(lua, argument, &size);
  if (option.kind == 's' || option.size == 0) option.size = size;
  // As in the original library.
  luaL_argcheck(lua, size >= option.size, argument + 1, "string too short");
  bytes.Append(lua, {text, option.size});
  if (option.kind == 's') bytes.Append(lua, '\0');
}

int PackStruct(lua_State* lua) {
  Format format(lua, luaL_checkstring(lua, 1));
  ScriptBuffer bytes(lua);
  int argument = 2;
  while (!format.AtEnd()) {
    const Option option = format.Next();
    if (option.kind == 0) continue;
    bytes.Append(lua, format.Padding(option, bytes.size()), '\0');
    if (IsInteger(option.kind)) {
      AppendInteger(lua, argument++, option, format.is_little(), bytes);
    } else if (option.kind == 'f') {
      AppendFloat<float>(lua, argument++, format.is_little(), bytes);
    } else if (option.kind == 'd') {
      AppendFloat<double>(lua, argument++, format.is_little(), bytes);
    } else if (option.kind == 'x') {
      bytes.Append(lua, '\0');
    } else {
      AppendString(lua, argument++, option, bytes);
    }
  }
  Interpreter::Of(lua).NoteWork(bytes.size());
  bytes.Push(lua);
  return 1;
}

// --- unpack ---

void PushInteger(lua_State* lua, std::string_view bytes, const Option& option, bool is_little) {
  uint64_t value = 0;
  const size_t used = std::min(option.size, sizeof(value));
  for (size_t i = 0; i < used; ++i) {
    const size_t at = is_little ? i : bytes.size() - 1 - i;
    value |= uint64_t{static_cast<unsigned char>(bytes[at])} << (8 * i);
  }
  if (!IsSigned(option.kind)) return lua_pushnumber(lua, static_cast<lua_Number>(value));
  if (used > 0 && used < sizeof(value) && (value >> (8 * used - 1)) != 0) {
    value |= ~uint64_t{0} << (8 * used);
  }
  lua_pushnumber(lua, static_cast<lua_Number>(static_cast<int64_t>(value)));
}

template <class Float>
void PushFloat(lua_State* lua, std::string_view bytes, bool is_little) {
  char raw[sizeof(Float)];
  std::memcpy(raw, bytes.data(), sizeof(raw));
  if (is_little != (std::endian::native == std::endian::little))
    std::reverse(raw, raw + sizeof(raw));
  Float value;
  std::memcpy(&value, raw, sizeof(raw));
  lua_pushnumber(lua, static_cast<lua_Number>(value));
}

// Pops a number, which is the size of the next string.
size_t TakeSize(lua_State* lua, int results) {
  if (results == 0 || lua_type(lua, -1) != LUA_TNUMBER) {
    luaL_error(lua, "format 'c0' needs a previous size");
  }
  const lua_Number size = lua_tonumber(lua, -1);
  lua_pop(lua, 1);
  luaL_argcheck(lua, size >= 0 && size < 9007199254740992.0, 2, "data string too short");
  return static_cast<size_t>(size);
}

int UnpackStruct(lua_State* lua) {
  Format format(lua, luaL_checkstring(lua, 1));
  size_t size = 0;
  const char* const data = luaL_checklstring(lua, 2, &size);
  const std::string_view bytes(data, size);
  const lua_Integer offset = luaL_optinteger(lua, 3, 1);
  luaL_argcheck(lua, offset > 0, 3, "offset must be 1 or greater");
  size_t at = static_cast<size_t>(offset) - 1;
  int results = 0;
  lua_settop(lua, 2);
  while (!format.AtEnd()) {
    Option option = format.Next();
    if (option.kind == 0) continue;
    at += format.Padding(option, at);
    if (option.kind == 'c' && option.size == 0) {
      option.size = TakeSize(lua, results);
      --results;
    }
    luaL_argcheck(lua, at <= size && option.size <= size - at, 2, "data string too short");
    luaL_checkstack(lua, 2, "too many results");
    const std::string_view here = bytes.substr(at, option.size);
    at += option.size;
    if (option.kind == 'x') continue;
    ++results;
    if (IsInteger(option.kind)) {
      PushInteger(lua, here, option, format.is_little());
    } else if (option.kind == 'f') {
      PushFloat<float>(lua, here, format.is_little());
    } else if (option.kind == 'd') {
      PushFloat<double>(lua, here, format.is_little());
    } else if (option.kind == 'c') {
      lua_pushlstring(lua, here.data(), here.size());
    } else {
      const size_t end = bytes.find('\0', at);
      if (end == std::string_view::npos) return luaL_error(lua, "unfinished string in data");
      lua_pushlstring(lua, data + at, end - at);
      at = end + 1;
    }
  }
  Interpreter::Of(lua).NoteWork(at);
  lua_pushinteger(lua, static_cast<lua_Integer>(at) + 1);
  return results + 1;
}

// To parse a letter of a format takes about as long as to copy this many bytes.
constexpr size_t kWorkOfOption = 16;

int Size(lua_State* lua) {
  Format format(lua, luaL_checkstring(lua, 1));
  size_t total = 0;
  while (!format.AtEnd()) {
    const Option option = format.Next();
    if (option.kind == 0) continue;
    total += format.Padding(option, total);
    if (option.kind == 's') luaL_argerror(lua, 1, "option 's' has no fixed size");
    if (option.kind == 'c' && option.size == 0) {
      luaL_argerror(lua, 1, "option 'c0' has no fixed size");
    }
    total += option.size;
  }
  Interpreter::Of(lua).NoteWork(kWorkOfOption * lua_objlen(lua, 1));
  lua_pushnumber(lua, static_cast<lua_Number>(total));
  return 1;
}

constexpr luaL_Reg kStructFunctions[] = {
    {"pack", PackStruct},
    {"unpack", UnpackStruct},
    {"size", Size},
};

}  // namespace

void PushStructLibrary(lua_State* lua) {
  lua_newtable(lua);
  for (const luaL_Reg& each : kStructFunctions) {
    lua_pushcfunction(lua, each.func);
    lua_setfield(lua, -2, each.name);
  }
}

}  // namespace zsetd
