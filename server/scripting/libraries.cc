#include "server/scripting/libraries.h"

#include <algorithm>
#include <utility>

#include "protocol/rdb/rdb_reader.h"
#include "protocol/rdb/rdb_writer.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"
#include "server/scripting/lua_values.h"
#include "server/scripting/tail_calls.h"

namespace zsetd {
namespace {

constexpr Micros kMostLoadTime{500'000};
// The opcode of a library in Redis's snapshots.
constexpr char kFunctionOpcode = static_cast<char>(245);
constexpr size_t kMostCodeBytes = 16u << 20;

constexpr std::string_view kBadName =
    "Library names can only contain letters, numbers, or underscores(_) and must be at least one "
    "character long";

bool IsName(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_';
  });
}

// The name of a library, from the first line of its code.
struct Metadata {
  std::string name;
  std::string_view code;  // after the first line
};

absl::StatusOr<Metadata> ReadMetadata(std::string_view text) {
  if (!text.starts_with("#!")) return Refusal("ERR Missing library metadata");
  const std::optional<Shebang> shebang = ReadShebang(text);
  if (!shebang) return Refusal("ERR Invalid library metadata");
  if (!EqualsIgnoringCase(shebang->engine, "lua")) {
    return Refusal("ERR Engine '" + shebang->engine + "' not found");
  }
  std::optional<std::string> name;
  for (const std::string& option : shebang->options) {
    constexpr std::string_view kName = "name=";
    if (!option.starts_with(kName)) {
      return Refusal("ERR Invalid metadata value given: " + option);
    }
    if (name) {
      return Refusal("ERR Invalid metadata value, name argument was given multiple times");
    }
    name = option.substr(kName.size());
  }
  if (!name) return Refusal("ERR Library name was not given");
  if (!IsName(*name)) return Refusal("ERR " + std::string(kBadName));
  return Metadata{*name, shebang->rest};
}

// Returns the string or number on top of the stack; nullopt if it is neither. A number stays a
// number on the stack: converting it in place would confuse lua_next.
std::optional<std::string> TextOnTop(lua_State* lua) {
  if (lua_isstring(lua, -1) == 0) return std::nullopt;
  lua_pushvalue(lua, -1);
  size_t size = 0;
  const char* const bytes = lua_tolstring(lua, -1, &size);
  std::string text(bytes, size);
  lua_pop(lua, 1);
  return text;
}

}  // namespace

Libraries::Libraries(std::function<Micros()> stopwatch, size_t& allocated_bytes, uint64_t seed)
    : stopwatch_(stopwatch),
      interpreter_(std::move(stopwatch), allocated_bytes),
      sandbox_(interpreter_, seed) {
  sandbox_.AddRedisFunction("register_function", RegisterFunction, this);
}

Libraries::~Libraries() = default;

// --- redis.register_function ---

int Libraries::RegisterFunction(lua_State* lua) {
  auto* const self = static_cast<Libraries*>(lua_touserdata(lua, lua_upvalueindex(1)));
  return self->Register(lua);
}

int Libraries::Register(lua_State* lua) {
  if (loading_ == nullptr) {
    PushError(lua, "ERR redis.register_function can only be called on FUNCTION LOAD command");
    return lua_error(lua);
  }
  std::string name;
  Function function = {.name = {}, .callback = LUA_NOREF, .flags = {}, .description = {}};
  std::optional<std::string> problem = ReadRegistration(lua, name, function);
  if (!problem && !IsName(name)) problem = std::string(kBadName);
  if (!problem && loading_->functions.contains(LowerCase(name))) {
    problem = "Function already exists in the library";
  }
  if (problem) {
    luaL_unref(lua, LUA_REGISTRYINDEX, function.callback);
    PushError(lua, "ERR " + *problem);
    return lua_error(lua);
  }
  const std::string key = LowerCase(name);
  function.name = std::move(name);
  loading_->functions.emplace(key, std::move(function));
  return 0;
}

// Reads the arguments. Returns the error, if any.
std::optional<std::string> Libraries::ReadRegistration(lua_State* lua, std::string& name,
                                                       Function& function) {
  const int count = lua_gettop(lua);
  if (count < 1 || count > 2) return "wrong number of arguments to redis.register_function";
  if (count == 1) {
    if (!lua_istable(lua, 1)) {
      return "calling redis.register_function with a single argument is only applicable to Lua "
             "table (representing named arguments).";
    }
    return ReadNamedArguments(lua, name, function);
  }
  if (lua_isstring(lua, 1) == 0) {
    return "first argument to redis.register_function must be a string";
  }
  if (!lua_isfunction(lua, 2)) {
    return "second argument to redis.register_function must be a function";
  }
  name = lua_tostring(lua, 1);
  lua_pushvalue(lua, 2);
  function.callback = luaL_ref(lua, LUA_REGISTRYINDEX);
  return std::nullopt;
}

std::optional<std::string> Libraries::ReadNamedArguments(lua_State* lua, std::string& name,
                                                         Function& function) {
  const std::string kUnknown = "unknown argument given to redis.register_function";
  bool has_name = false;
  for (lua_pushnil(lua); lua_next(lua, 1) != 0; lua_pop(lua, 1)) {
    if (lua_type(lua, -2) != LUA_TSTRING) {
      return "named argument key given to redis.register_function is not a string";
    }
    const std::string_view key = lua_tostring(lua, -2);
    if (EqualsIgnoringCase(key, "function_name")) {
      const std::optional<std::string> text = TextOnTop(lua);
      if (!text) return "function_name argument given to redis.register_function must be a string";
      name = *text;
      has_name = true;
    } else if (EqualsIgnoringCase(key, "description")) {
      function.description = TextOnTop(lua);
      if (!function.description) {
        return "description argument given to redis.register_function must be a string";
      }
    } else if (EqualsIgnoringCase(key, "callback")) {
      if (!lua_isfunction(lua, -1)) {
        return "callback argument given to redis.register_function must be a function";
      }
      luaL_unref(lua, LUA_REGISTRYINDEX, function.callback);
      lua_pushvalue(lua, -1);
      function.callback = luaL_ref(lua, LUA_REGISTRYINDEX);
    } else if (EqualsIgnoringCase(key, "flags")) {
      if (!lua_istable(lua, -1)) {
        return "flags argument to redis.register_function must be a table representing function "
               "flags";
      }
      if (auto problem = ReadFlags(lua, function.flags)) return problem;
    } else {
      return kUnknown;
    }
  }
  if (!has_name) return "redis.register_function must get a function name argument";
  if (function.callback == LUA_NOREF) return "redis.register_function must get a callback argument";
  return std::nullopt;
}

// Reads the array of flags on top of the stack. Returns the error, if any.
std::optional<std::string> Libraries::ReadFlags(lua_State* lua, ScriptFlags& flags) {
  for (int i = 1;; ++i) {
    lua_rawgeti(lua, -1, i);
    if (lua_isnil(lua, -1)) break;
    const std::optional<ScriptFlag> flag =
        lua_type(lua, -1) == LUA_TSTRING ? ScriptFlags::Find(lua_tostring(lua, -1)) : std::nullopt;
    if (!flag) return "unknown flag given";
    flags.Add(*flag);
    lua_pop(lua, 1);
  }
  lua_pop(lua, 1);
  return std::nullopt;
}

// --- Loading ---

absl::StatusOr<std::unique_ptr<Libraries::Library>> Libraries::Build(std::string_view code) {
  if (code.size() > kMostCodeBytes) return Refusal("ERR Library code is too long");
  const absl::StatusOr<Metadata> metadata = ReadMetadata(code);
  if (!metadata.ok()) return metadata.status();
  auto library = std::make_unique<Library>();
  library->name = metadata->name;
  library->code = code;
  std::string error;
  const auto chunk =
      interpreter_.Compile(WithoutTailCalls(metadata->code), "@user_function", error);
  if (!chunk) return Refusal("ERR Error compiling function: " + error);
  loading_ = library.get();
  const absl::Status status = Run(*chunk);
  loading_ = nullptr;
  interpreter_.Release(*chunk);
  if (!status.ok()) {
    Drop(*library);
    return status;
  }
  if (library->functions.empty()) return Refusal("ERR No functions registered");
  return library;
}

// The functions that the chunk creates keep the environment as that of their library.
absl::Status Libraries::Run(LuaReference chunk) {
  lua_State* const lua = interpreter_.run_thread();
  sandbox_.PushEnvironment(lua);
  lua_pushvalue(lua, -1);
  lua_replace(lua, LUA_GLOBALSINDEX);
  lua_rawgeti(lua, LUA_REGISTRYINDEX, chunk);
  lua_insert(lua, -2);
  lua_setfenv(lua, -2);
  sandbox_.BeginLoad();
  const auto result = interpreter_.Start(nullptr, 0, stopwatch_() + kMostLoadTime);
  sandbox_.EndLoad();
  absl::Status status;
  if (result == Interpreter::Result::kSuspended) {
    status = Refusal("ERR Error registering functions: ERR FUNCTION LOAD timeout");
  } else if (result == Interpreter::Result::kFailed) {
    status = Refusal("ERR Error registering functions: " + TextOfError(lua, -1).line);
  }
  interpreter_.EndRun();
  return status;
}

absl::Status Libraries::CheckNames(const Library& library, bool replace) const {
  if (!replace && libraries_.contains(library.name)) {
    return Refusal("ERR Library " + library.name + " already exists");
  }
  for (const auto& [name, function] : library.functions) {
    const auto same = functions_.find(name);
    if (same == functions_.end() || (replace && same->second.owner->name == library.name)) continue;
    return Refusal("ERR Function " + function.name + " already exists");
  }
  return absl::OkStatus();
}

// Refuses a library or function whose name is in `names`.
absl::Status Libraries::AddNames(const Library& library, Names& names) {
  if (!names.libraries.insert(library.name).second) {
    return Refusal("ERR Library '" + library.name + "' already exists");
  }
  for (const auto& [name, function] : library.functions) {
    if (!names.functions.insert(name).second) {
      return Refusal("ERR Function " + function.name + " already exists");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Libraries::Load(std::string_view code, bool replace) {
  const absl::StatusOr<Metadata> metadata = ReadMetadata(code);
  if (!metadata.ok()) return metadata.status();
  if (!replace && libraries_.contains(metadata->name)) {
    return Refusal("ERR Library '" + metadata->name + "' already exists");
  }
  absl::StatusOr<std::unique_ptr<Library>> library = Build(code);
  if (!library.ok()) return library.status();
  if (const absl::Status status = CheckNames(**library, replace); !status.ok()) {
    Drop(**library);
    return status;
  }
  Delete((*library)->name);
  std::string name = (*library)->name;
  Insert(std::move(*library));
  return name;
}

void Libraries::Insert(std::unique_ptr<Library> library) {
  for (const auto& [name, function] : library->functions) {
    functions_[name] = {library.get(), &function};
  }
  libraries_[library->name] = std::move(library);
}

// Releases the library's functions in the interpreter.
void Libraries::Drop(Library& library) {
  for (const auto& [name, function] : library.functions) interpreter_.Release(function.callback);
}

bool Libraries::Delete(std::string_view name) {
  const auto at = libraries_.find(name);
  if (at == libraries_.end()) return false;
  for (const auto& [function, details] : at->second->functions) functions_.erase(function);
  Drop(*at->second);
  libraries_.erase(at);
  return true;
}

const Libraries::Function* Libraries::Find(std::string_view name) const {
  const auto found = functions_.find(LowerCase(name));
  return found == functions_.end() ? nullptr : found->second.function;
}

std::vector<LibraryDescription> Libraries::Describe() const {
  std::vector<LibraryDescription> all;
  for (const auto& [name, library] : libraries_) {
    LibraryDescription& description = all.emplace_back();
    description.name = name;
    description.code = library->code;
    for (const auto& [key, function] : library->functions) {
      description.functions.push_back(
          {function.name, function.description, function.flags.Names()});
    }
  }
  return all;
}

std::string Libraries::Dump() const {
  std::string dump;
  RdbWriter writer(dump);
  for (const auto& [name, library] : libraries_) {
    dump += kFunctionOpcode;
    writer.String(library->code);
  }
  return dump;
}

// Builds all libraries, and checks their names against each other and against the existing
// libraries, before it replaces any of them.
absl::Status Libraries::Restore(std::string_view dump, RestorePolicy policy) {
  RdbReader reader(dump, kMostCodeBytes);
  std::vector<std::unique_ptr<Library>> restored;
  Names names;  // of the restored libraries and their functions
  absl::Status status;
  while (status.ok() && !reader.AtEnd()) {
    if (static_cast<char>(reader.Byte()) != kFunctionOpcode) {
      status = Refusal("ERR given type is not a function");
      break;
    }
    const std::string code(reader.String());
    if (!reader.ok()) {
      status = Refusal("ERR failed loading functions");
      break;
    }
    absl::StatusOr<std::unique_ptr<Library>> library = Build(code);
    if (!library.ok()) {
      status = library.status();
      break;
    }
    if (policy != RestorePolicy::kFlush) {
      status = CheckNames(**library, policy == RestorePolicy::kReplace);
    }
    if (status.ok()) status = AddNames(**library, names);
    restored.push_back(std::move(*library));
  }
  if (!status.ok()) {
    for (const auto& library : restored) Drop(*library);
    return status;
  }
  while (policy == RestorePolicy::kFlush && !libraries_.empty()) Delete(libraries_.begin()->first);
  for (auto& library : restored) {
    Delete(library->name);
    Insert(std::move(library));
  }
  return absl::OkStatus();
}

size_t Libraries::BytesUsed() const {
  constexpr size_t kEntryBytes = 200;  // of a function or a library, in its maps
  size_t bytes = (libraries_.size() + functions_.size()) * kEntryBytes;
  for (const auto& [name, library] : libraries_) bytes += library->code.capacity();
  return bytes;
}

}  // namespace zsetd
