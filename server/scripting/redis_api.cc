#include "server/scripting/redis_api.h"

#include <openssl/sha.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/text/number_text.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/redis_version.h"
#include "server/scripting/interpreter/interpreter.h"
#include "server/scripting/interpreter/run.h"
#include "server/scripting/library/library_errors.h"
#include "server/scripting/lua_values.h"
#include "server/scripting/sha1_text.h"

namespace zsetd {
namespace {

constexpr int kAofFlag = 1;
constexpr int kReplicaFlag = 2;

std::string_view TextAt(lua_State* lua, int index) {
  size_t size = 0;
  const char* const text = lua_tolstring(lua, index, &size);
  return {text, size};
}

int Raise(lua_State* lua, std::string_view line) {
  PushError(lua, line);
  return lua_error(lua);
}

// Formats whole numbers without an exponent, because commands that read integers accept no
// exponent.
char* FormatNumber(double number, char* out) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (std::fabs(number) <= kExact) {
    const auto whole = static_cast<int64_t>(number);
    if (static_cast<double>(whole) == number) return FormatInteger(whole, out);
  }
  return FormatDouble(number, out);
}

// Reads the arguments of a call as the words of a request. The words refer to strings on the Lua
// stack, or to the run's text of numbers. Returns false if an argument has another type.
bool ReadWords(lua_State* lua, ScriptRun& run) {
  const int count = lua_gettop(lua);
  std::vector<std::string_view>& words = run.argv();
  words.resize(static_cast<size_t>(count));
  std::vector<char>& numbers = run.number_text();
  const size_t most_number_bytes = words.size() * kNumberBytes;
  if (numbers.size() < most_number_bytes) numbers.resize(most_number_bytes);
  for (int i = 1; i <= count; ++i) {
    std::string_view& word = words[static_cast<size_t>(i - 1)];
    const int type = lua_type(lua, i);
    if (type == LUA_TSTRING) {
      word = TextAt(lua, i);
    } else if (type == LUA_TNUMBER) {
      char* const text = numbers.data() + static_cast<size_t>(i - 1) * kNumberBytes;
      char* const end = FormatNumber(lua_tonumber(lua, i), text);
      word = {text, static_cast<size_t>(end - text)};
    } else {
      return false;
    }
  }
  return true;
}

// Runs a command. Pushes its reply, or an error if it cannot be run. Returns whether the value is
// an error.
bool PushCommand(lua_State* lua, ScriptRun& run) {
  if (lua_gettop(lua) == 0) {
    PushError(lua, "ERR Please specify at least one argument for this redis lib call");
    return true;
  }
  if (!ReadWords(lua, run)) {
    PushError(lua, "ERR Lua redis lib command arguments must be strings or integers");
    return true;
  }
  const absl::Status status = run.Execute(run.argv());
  Interpreter::Of(lua).OnCommandEnd(run.engine().clock().began_at());
  if (!status.ok()) {
    PushError(lua, ErrorLine(status), /*is_counted=*/true);
    return true;
  }
  const std::string_view reply = run.session().caller.replies.view();
  PushReply(lua, reply);
  return reply.starts_with('-');
}

ScriptRun& RunOf(lua_State* lua) {
  ScriptRun* const run = Interpreter::Of(lua).run();
  if (run == nullptr) {
    Raise(lua, "ERR redis.call/pcall can only be called inside a script invocation");
  }
  return *run;
}

int CallCommand(lua_State* lua) { return PushCommand(lua, RunOf(lua)) ? lua_error(lua) : 1; }

int PCallCommand(lua_State* lua) {
  PushCommand(lua, RunOf(lua));
  return 1;
}

bool HasOneText(lua_State* lua) { return lua_gettop(lua) == 1 && lua_type(lua, 1) == LUA_TSTRING; }

int ErrorReply(lua_State* lua) {
  if (!HasOneText(lua)) {
    PushError(lua, "ERR wrong number or type of arguments");
    return 1;
  }
  std::string_view text = TextAt(lua, 1);
  if (text.starts_with('-')) text.remove_prefix(1);
  while (text.ends_with('\r') || text.ends_with('\n')) text.remove_suffix(1);
  PushError(lua, text);
  return 1;
}

int StatusReply(lua_State* lua) {
  if (!HasOneText(lua)) {
    PushError(lua, "ERR wrong number or type of arguments");
    return 1;
  }
  lua_createtable(lua, 0, 1);
  lua_pushvalue(lua, 1);
  lua_setfield(lua, -2, "ok");
  return 1;
}

int Sha1Hex(lua_State* lua) {
  if (lua_gettop(lua) != 1) return Raise(lua, "ERR wrong number of arguments");
  size_t size = 0;
  const char* const text = lua_tolstring(lua, 1, &size);
  Interpreter::Of(lua).NoteWork(size);
  const Sha1Text digits =
      Sha1TextOf(text == nullptr ? std::string_view() : std::string_view(text, size));
  lua_pushlstring(lua, digits.data(), digits.size());
  return 1;
}

int Log(lua_State* lua) {
  const int count = lua_gettop(lua);
  if (count < 2) return Raise(lua, "ERR redis.log() requires two arguments or more.");
  if (lua_type(lua, 1) != LUA_TNUMBER) {
    return Raise(lua, "ERR First argument must be a number (log level).");
  }
  const lua_Number number = lua_tonumber(lua, 1);
  if (!(number >= 0 && number < static_cast<lua_Number>(std::size(kLogLevels)))) {
    return Raise(lua, "ERR Invalid debug level.");
  }
  const auto level = static_cast<LogLevel>(number);
  ScriptRun* const run = Interpreter::Of(lua).run();
  if (run == nullptr || !run->engine().host().log->IsOn(level)) return 0;
  std::string line;
  for (int i = 2; i <= count; ++i) {
    if (lua_tostring(lua, i) == nullptr) continue;
    if (!Interpreter::Of(lua).HasRoomFor(line.size() + TextAt(lua, i).size())) FailMemory(lua);
    if (!line.empty()) line += ' ';
    line += TextAt(lua, i);
  }
  run->engine().host().log->Write(level, line);
  return 0;
}

int SetResp(lua_State* lua) {
  if (lua_gettop(lua) != 1) return Raise(lua, "ERR redis.setresp() requires one argument.");
  const lua_Number version = lua_tonumber(lua, 1);
  if (version != 2 && version != 3) return Raise(lua, "ERR RESP version must be 2 or 3.");
  RunOf(lua).session().caller.reply.set_protocol(version == 3 ? Protocol::kResp3
                                                              : Protocol::kResp2);
  return 0;
}

// Accepted without effect: all effects are always propagated. If a script could omit some of its
// changes, replicas would diverge permanently.
int SetRepl(lua_State* lua) {
  if (lua_gettop(lua) != 1) return Raise(lua, "ERR redis.set_repl() requires two arguments.");
  const lua_Number number = lua_tonumber(lua, 1);
  const bool is_int = std::abs(number) <= std::numeric_limits<int>::max();
  if (!is_int || (static_cast<int>(number) & ~(kAofFlag | kReplicaFlag)) != 0) {
    return Raise(lua,
                 "ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or "
                 "REPL_NONE.");
  }
  return 0;
}

int ReplicateCommands(lua_State* lua) {
  lua_pushboolean(lua, 1);
  return 1;
}

int AclCheckCommand(lua_State* lua) {
  ScriptRun& run = RunOf(lua);
  if (lua_gettop(lua) == 0) {
    return Raise(lua, "ERR Please specify at least one argument for this redis lib call");
  }
  if (!ReadWords(lua, run)) {
    return Raise(lua, "ERR Lua redis lib command arguments must be strings or integers");
  }
  const Args words = run.argv();
  const Command* const command = run.engine().commands().Find(words);
  if (command == nullptr || command->run == nullptr) {
    return Raise(lua, "ERR Invalid command passed to redis.acl_check_cmd()");
  }
  lua_pushboolean(lua, ScriptCommandRunner::MayRun(run.caller(), *command, words));
  return 1;
}

// Returns false, because there is no debugger.
int Breakpoint(lua_State* lua) {
  lua_pushboolean(lua, 0);
  return 1;
}
int Debug(lua_State*) { return 0; }

int VersionNumber() {
  int number = 0;
  int part = 0;
  for (const char each : std::string(kRedisVersion) + ".") {
    if (each != '.') {
      part = part * 10 + (each - '0');
      continue;
    }
    number = (number << 8) | part;
    part = 0;
  }
  return number;
}

constexpr luaL_Reg kRedisFunctions[] = {
    {"call", CallCommand},
    {"pcall", PCallCommand},
    {"error_reply", ErrorReply},
    {"status_reply", StatusReply},
    {"sha1hex", Sha1Hex},
    {"log", Log},
    {"setresp", SetResp},
    {"set_repl", SetRepl},
    {"replicate_commands", ReplicateCommands},
    {"acl_check_cmd", AclCheckCommand},
    {"breakpoint", Breakpoint},
    {"debug", Debug},
};

struct Constant {
  const char* name;
  int value;
};
constexpr Constant kConstants[] = {
    {"LOG_DEBUG", 0},
    {"LOG_VERBOSE", 1},
    {"LOG_NOTICE", 2},
    {"LOG_WARNING", 3},
    {"REPL_NONE", 0},
    {"REPL_AOF", kAofFlag},
    {"REPL_SLAVE", kReplicaFlag},
    {"REPL_REPLICA", kReplicaFlag},
    {"REPL_ALL", kAofFlag | kReplicaFlag},
};

}  // namespace

void PushRedisApi(lua_State* lua) {
  lua_newtable(lua);
  for (const luaL_Reg& each : kRedisFunctions) {
    lua_pushcfunction(lua, each.func);
    lua_setfield(lua, -2, each.name);
  }
  for (const Constant& each : kConstants) {
    lua_pushinteger(lua, each.value);
    lua_setfield(lua, -2, each.name);
  }
  lua_pushlstring(lua, kRedisVersion.data(), kRedisVersion.size());
  lua_setfield(lua, -2, "REDIS_VERSION");
  lua_pushinteger(lua, VersionNumber());
  lua_setfield(lua, -2, "REDIS_VERSION_NUM");
}

}  // namespace zsetd
