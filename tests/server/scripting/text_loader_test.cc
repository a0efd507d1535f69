// The compilation of a long text ends in time.

#include "server/scripting/interpreter/text_loader.h"

#include <gtest/gtest.h>

#include <string>

#include "server/scripting/interpreter/interpreter.h"
#include "server/scripting/sandbox.h"

namespace zsetd {
namespace {

constexpr Micros kSecond{1'000'000};

std::string Repeat(std::string_view text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

// A stopwatch that advances with each reading, as if each piece of a text took that long.
struct SlowMachine {
  Micros now{0};
  size_t bytes = 0;
  Interpreter interpreter{[this] { return now += kSecond / 10; }, bytes};
};

TEST(TextLoader, CompilesTheSameFunctionFromAnyNumberOfPieces) {
  size_t bytes = 0;
  Interpreter interpreter([] { return Micros(0); }, bytes);
  lua_State* const lua = interpreter.state();
  for (const int lines : {0, 1, 1'000, 100'000}) {
    SCOPED_TRACE(lines);
    const std::string text =
        "local n = 0\n" + Repeat("n = n + 1 --[[ 12345 ]]\n", lines) + "return n";
    ASSERT_EQ(LoadText(lua, text, "@text", [](lua_State*) {}), 0);
    lua_call(lua, 0, 1);
    EXPECT_EQ(lua_tointeger(lua, -1), lines);
    lua_settop(lua, 0);
  }
}

TEST(TextLoader, AnErrorOfTheCheckIsTheResult) {
  size_t bytes = 0;
  Interpreter interpreter([] { return Micros(0); }, bytes);
  lua_State* const lua = interpreter.state();
  int checks = 0;
  const int status = LoadText(lua, Repeat("x = 1 ", 100'000), "@text", [&](lua_State* caller) {
    if (++checks == 10) luaL_error(caller, "enough");
  });
  EXPECT_EQ(status, LUA_ERRRUN);
  EXPECT_STREQ(lua_tostring(lua, -1), "enough");
  EXPECT_EQ(checks, 10);
  lua_settop(lua, 0);
}

TEST(Interpreter, ATextThatTakesTooLongToCompileIsAnError) {
  SlowMachine machine;
  std::string error;
  EXPECT_EQ(machine.interpreter.Compile(Repeat("x = 1 ", 200'000), "@user_script", error),
            std::nullopt);
  EXPECT_EQ(error, "the text takes too long to compile");
  EXPECT_LT(machine.now, 3 * kSecond);
  EXPECT_TRUE(machine.interpreter.Compile(Repeat("x = 1 ", 1'000), "@user_script", error));
}

TEST(Interpreter, ARunThatLoadsATextFailsIfItIsLateForASecond) {
  SlowMachine machine;
  Interpreter& interpreter = machine.interpreter;
  Sandbox sandbox(interpreter, 1);
  std::string error;
  const auto chunk = interpreter.Compile("return select(2, loadstring(('x = 1 '):rep(200000)))",
                                         "@user_script", error);
  ASSERT_TRUE(chunk) << error;
  sandbox.BeginRun();
  lua_State* const lua = interpreter.run_thread();
  lua_rawgeti(lua, LUA_REGISTRYINDEX, *chunk);
  sandbox.SetArguments(lua, {}, {});
  sandbox.PushEnvironment(lua);
  lua_setfenv(lua, -2);
  auto result = interpreter.Start(nullptr, 0, machine.now + kSecond);
  while (result == Interpreter::Result::kSuspended)
    result = interpreter.Resume(machine.now + kSecond);
  ASSERT_EQ(result, Interpreter::Result::kDone);
  EXPECT_STREQ(lua_tostring(interpreter.state_of_run(), 1),
               "user_script:1: script took too long where it cannot be suspended");
  interpreter.EndRun();
}

}  // namespace
}  // namespace zsetd
