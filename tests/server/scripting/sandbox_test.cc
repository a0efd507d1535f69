// Hostile scripts: whatever function they call with whatever arguments, the run can be suspended
// soon.

#include "server/scripting/sandbox.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/server/scripting/sandboxed_lua.h"

namespace zsetd {
namespace {

// Far longer than a slice, even under a sanitizer. Far shorter than a function that is not
// interrupted.
constexpr double kMostSeconds = 5;

// Calls functions with random arguments. Each function of a hostile value probes whether the run
// can be suspended there, and calls a function again, up to some depth.
constexpr char kHostileCalls[] = R"lua(
math.randomseed(SEED)
local probe, fields, random = redis.probe, redis.fields, math.random
local functions, names = {}, {}
for name, value in pairs(_G) do
  if type(value) == 'function' then names[name] = value end
  if type(value) == 'userdata' then
    for field, f in pairs(fields(value)) do
      if type(f) == 'function' then names[name .. '.' .. field] = f end
    end
  end
end
names['redis.probe'], names['redis.fields'], names['redis.hurry'] = nil, nil, nil
local order = {}
for name in pairs(names) do order[#order + 1] = name end
table.sort(order)
for _, name in ipairs(order) do functions[#functions + 1] = names[name] end
assert(#functions > 100)

local values, call_random
local depth = 0
local function again(...)
  probe()
  if depth > 3 then return ... end
  depth = depth + 1
  call_random(...)
  depth = depth - 1
  local kind = random(6)
  if kind == 1 then return values[random(#values)] end
  if kind == 2 then return tostring(random(9)) end
  if kind == 3 then return random(9) end
  if kind == 4 then return nil end
  return ...
end
local events = {'index', 'newindex', 'tostring', 'lt', 'le', 'eq', 'concat', 'call', 'len', 'unm',
                'add', 'sub', 'mul', 'div', 'mod', 'pow', 'gc', 'pairs', 'ipairs', 'name', 'close'}
local hidden, open = {__metatable = false}, {}
for _, event in ipairs(events) do hidden['__' .. event], open['__' .. event] = again, again end
local function hostile(metatable, ...) return setmetatable({...}, metatable) end
local tables = {
  hostile(hidden), hostile(open), hostile(hidden, 3, 1, 2), hostile(open, 'b', 'a'),
  hostile(hidden, hostile(open), hostile(hidden)), hostile({__index = hostile(hidden)}),
  hostile(open, hostile(open), hostile(open), hostile(open)), {hostile(hidden), hostile(hidden)},
  setmetatable({}, {__metatable = hostile(hidden)}), {1, 2, 3}, {'x', {}}, {}, _G,
}
local texts = {'', 'a', 'aaa', 'a(b)c', '1', 'x\0y', '[[[1]]]', '{"a":1}', '\147\1\2\3', 'return 1'}
local patterns = {'.', '(.)', '()', '%b()', '%f[a]', '[', '%', '^a', '.-', 'a*a*b', '%1', '%s', '%d%s',
                  '%q%s', 's', 'count', ''}
local numbers = {0, -1, 1, 3, 2 ^ 31, -2 ^ 31, 2 ^ 53, 1e308, 0 / 0, 1 / 0, -1 / 0, 0.5}
values = {again, function() return true end, coroutine.create(again), true, false, redis, cjson.null}
for _, list in ipairs({tables, tables, texts, patterns, numbers}) do
  for _, value in ipairs(list) do values[#values + 1] = value end
end
local operators = {
  function(a, b) return a < b end, function(a, b) return a .. b end, function(a, b) return a[b] end,
  function(a, b) a[b] = b end, function(a, b) return a(b) end, function(a, b) return a + b end,
  function(a, b) for k in pairs(a) do probe() end end, function(a, b) return -a, #b end,
  function(a, b) for k in a, b do probe() return end end, function(a, b) return a == b end,
}
for _, operator in ipairs(operators) do functions[#functions + 1] = operator end
local function one_of(list) return list[random(#list)] end
local function some(count)
  if count == 0 then return end
  local value
  if random(8) > 1 then value = one_of(values) end
  return value, some(count - 1)
end
local shapes = {
  function() return some(random(0, 4)) end,
  function() return one_of(tables), some(random(0, 3)) end,
  function() return one_of(tables), again end,
  function() return one_of(tables), one_of(tables) end,
  function() return one_of(texts), one_of(patterns), some(random(0, 2)) end,
  function() return one_of(texts), one_of(patterns), again end,
  function() return one_of(texts), one_of(patterns), one_of(tables) end,
  function() return one_of(patterns), one_of(tables), one_of(tables) end,
  function() return again, some(random(0, 3)) end,
  function() return one_of(tables), one_of(numbers), some(random(0, 2)) end,
  function() return one_of(texts), one_of(numbers), some(random(0, 2)) end,
}
local leaked
local function checked(ok, problem, ...)
  if not ok and type(problem) == 'string' and problem:find('sandbox:', 1, true) then
    leaked = problem
  end
  return ok, problem, ...
end
function call_random(...)
  local f = one_of(functions)
  if random(4) == 1 then return checked(pcall(f, ...)) end
  if random(4) == 1 then return checked(pcall(coroutine.wrap(f), one_of(shapes)())) end
  return checked(pcall(f, one_of(shapes)()))
end
for i = 1, CALLS do
  depth = 0
  call_random()
end
return leaked or 'done'
)lua";

std::string WithNumber(std::string text, const std::string& name, uint64_t number) {
  return text.replace(text.find(name), name.size(), std::to_string(number));
}

TEST(Sandbox, RunCanBeSuspendedInEveryCallbackOfEveryFunction) {
  constexpr uint64_t kSeeds = 40;
  constexpr int kMostSlices = 1'000;
  int ended = 0;
  SandboxedLua lua(1);
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::string code = WithNumber(WithNumber(kHostileCalls, "SEED", seed), "CALLS", 3'000);
    const auto outcome = lua.Run(code, /*hurried=*/true, kMostSlices);
    ASSERT_EQ(lua.failed_probes(), 0);
    ASSERT_LT(lua.longest_gap(), kMostSeconds);
    if (outcome.ended && !outcome.failed) {
      EXPECT_EQ(outcome.text, "done");
      ++ended;
    }
    ASSERT_EQ(lua.Run("return 1", false).text, "1");
  }
  EXPECT_GT(lua.probes(), 1'000);
  EXPECT_GT(ended, 0);
}

// Each takes minutes or longer, or as much memory as available.
const char* const kLongCalls[] = {
    "return string.find(('a'):rep(30000), ('.-'):rep(9) .. 'b')",
    "return string.match(('a'):rep(30000), ('a*'):rep(9) .. 'b')",
    "return string.gsub(('a'):rep(30000), ('a-'):rep(9) .. 'b', 'x')",
    "return string.gsub(('a'):rep(30000), ('a-'):rep(9) .. 'b', {})",
    "for a in string.gmatch(('a'):rep(30000), ('.-'):rep(9) .. 'b') do end",
    "return string.find(('('):rep(1e6), ('%b()'):rep(9))",
    "return string.find(('b'):rep(1e6), '[' .. ('a'):rep(1e6) .. ']')",
    // each attempt is short, but the replacements are long
    "return #string.gsub(('b'):rep(30000), '(x*)b', ('%1'):rep(1000000))",
    "local t = {} for i = 1, 40 do t = {t, t} end redis.hurry() return cjson.encode(t)",
    "local t = {} for i = 1, 40 do t = {a = t, b = t} end redis.hurry() return cjson.encode(t)",
    "cjson.encode_sparse_array(true, 0, 0) while true do pcall(cjson.encode, {[1e9] = 1}) end",
    "local t = {} for i = 1, 400 do t[i] = '' end "
    "for i = 1, 13 do local s = {} for j = 1, 400 do s[j] = t end t = s end "
    "redis.hurry() while true do pcall(cmsgpack.pack, t) end",
    "local t = {} for i = 1, 1e6 do t[i] = -i end redis.hurry() while true do table.sort(t) end",
    "table.sort({3, 2, 1}, function() while true do end end)",
    "table.sort(setmetatable({3, 2, 1}, {__metatable = false}), function() while true do end end)",
    "local m = {__metatable = false, __lt = function() while true do end end} "
    "table.sort({setmetatable({}, m), setmetatable({}, m)})",
    "local m = {__metatable = false, __tostring = function() while true do end end} "
    "return string.format('%s', setmetatable({}, m))",
    "local m = {__metatable = false, __index = function() while true do end end} "
    "return string.gsub('a', 'a', setmetatable({}, m))",
    "local m = {__metatable = false, __index = function() while true do pcall(function() while "
    "true do end end) end end} return string.gsub('a', 'a', setmetatable({}, m))",
    "local m = {__index = function() while true do end end} "
    "coroutine.wrap(function() string.gsub('a', 'a', setmetatable({}, m)) end)()",
    "coroutine.wrap(function() string.find(('a'):rep(30000), ('.-'):rep(9) .. 'b') end)()",
    "local t = {} for i = 1, 1e6 do t[i] = i + 0.5 end redis.hurry() while true do table.concat(t) "
    "end",
    "local t = {} for i = 1, 1e6 do t[i] = 1 end redis.hurry() while true do table.insert(t, 1, 1) "
    "table.remove(t, 1) end",
    "local a = ('x'):rep(2e6) .. 'a' local b = ('x'):rep(2e6) .. 'b' redis.hurry() while true do "
    "local c = a < b "
    "end",
    "local s = ('x'):rep(5e6) redis.hurry() while true do s:upper() end",
    "local s = ('x'):rep(5e6) redis.hurry() while true do s:find('y', 1, true) end",
    "local s = (' '):rep(5e6) redis.hurry() while true do tonumber(s) end",
    "local t = {} for i = 1, 3e5 do t['k' .. i] = i end for k in pairs(t) do t[k] = nil end "
    "redis.hurry() while true do next(t) end",
    "local s = ('x'):rep(5e6) redis.hurry() while true do redis.sha1hex(s) end",
    "local s = ('return 1 '):rep(1) .. (' '):rep(5e6) redis.hurry() while true do loadstring(s) "
    "end",
    "local s = '[' .. ('1,'):rep(1e5) .. '1]' redis.hurry() while true do cjson.decode(s) end",
    "local s = cmsgpack.pack({('x'):rep(9)}) redis.hurry() while true do "
    "cmsgpack.unpack(s:rep(1000)) end",
    "redis.hurry() while true do struct.pack(('x'):rep(1e6)) end",
    "local s = ('x'):rep(1e6) local t = {} for i = 1, 7000 do t[i] = s end "
    "redis.hurry() while true do pcall(struct.pack, ('s'):rep(7000), unpack(t)) end",
};

class LongCall : public testing::TestWithParam<const char*> {};

TEST_P(LongCall, IsSuspended) {
  SandboxedLua lua(1);
  const auto outcome = lua.Run(GetParam(), /*hurried=*/true, /*most_slices=*/3);
  EXPECT_FALSE(outcome.ended) << outcome.text;
  EXPECT_LT(lua.longest_gap(), kMostSeconds);
  EXPECT_EQ(lua.Run("return 1", false).text, "1");
}

INSTANTIATE_TEST_SUITE_P(Sandbox, LongCall, testing::ValuesIn(kLongCalls));

// A table that has lost its keys keeps their slots. Each search for the next key visits all of
// them.
TEST(Sandbox, TablesThatHaveLostTheirKeysAreWrittenInSlices) {
  for (const std::string function : {"cjson.encode", "cmsgpack.pack"}) {
    SCOPED_TRACE(function);
    SandboxedLua lua(1);
    const auto outcome = lua.Run(
        "local h = {} for i = 1, 4e5 do h[i + 0.5] = 1 end for k in pairs(h) do h[k] = nil end "
        "local t = {} for i = 1, 30000 do t[i] = h end redis.hurry() return " +
            function + "(t)",
        /*hurried=*/true, /*most_slices=*/100);
    EXPECT_FALSE(outcome.ended) << outcome.text;
    EXPECT_LT(lua.longest_gap(), 0.5);
  }
}

// A run that is suspended in the middle of a call has the same result as a run that is not
// suspended.
TEST(Sandbox, SuspendedCallsHaveTheSameResults) {
  const char* const kScripts[] = {
      "local t = {} for i = 1, 30000 do t[i] = {i, a = {tostring(i)}} end "
      "return redis.sha1hex(cjson.encode(t))",
      "local t = {} for i = 1, 30000 do t[i] = {i, {tostring(i)}} end "
      "local packed = cmsgpack.pack(t, 1, {t}, 'x') "
      "local a, b, c, d = cmsgpack.unpack(packed) "
      "local at, e = cmsgpack.unpack_one(packed) "
      "return redis.sha1hex(packed .. cmsgpack.pack(a, b, c, d, e)) .. at .. b .. d",
      "local s = ('abc '):rep(30000) return redis.sha1hex((s:gsub('(%w+) ', '%1-%0%%'))) .. "
      "select(2, s:gsub('b', {b = 'x'})) .. select(2, s:gsub('c', function(c) return c .. c end))",
      "return redis.sha1hex((('ab'):rep(200):gsub('(x*)(b)()', ('%1%2-%3%0%%'):rep(2000)))) .. "
      "('ab'):rep(200):gsub('b', ('%1%0'):rep(9000)):len()",
      "local s, n = ('a=1,'):rep(30000), 0 for k, v in s:gmatch('(%w)=(%w)') do n = n + v end "
      "return n .. tostring(s:find('=%d,$')) .. s:match('.-,(a.*1),$'):len()",
      "local t = {} for i = 1, 50000 do t[i] = (i * 7919) % 50021 end table.sort(t) "
      "local u = {} for i = 1, 50000 do u[i] = 50000 - i end "
      "table.sort(u, function(a, b) return a < b end) "
      "return redis.sha1hex(table.concat(t, ',') .. table.concat(u, ';', 100, 40000))",
      "local co = coroutine.wrap(function() local s = ('x'):rep(40000) .. 'y' "
      "for i = 1, 3 do coroutine.yield(i .. tostring(s:find('x-y')) .. #cjson.encode({s})) end "
      "end) "
      "return co() .. co() .. co()",
      "local outer = coroutine.wrap(function() local inner = coroutine.wrap(function() "
      "for i = 1, 50 do for j = 1, 3000 do end coroutine.yield(i) end end) "
      "for i = 1, 50 do coroutine.yield(inner() * 2) end end) "
      "local sum = '' for i = 1, 50 do sum = sum .. outer() .. ' ' end return sum",
  };
  for (const char* const script : kScripts) {
    SCOPED_TRACE(script);
    SandboxedLua lua(1);
    const auto whole = lua.Run(script, /*hurried=*/false);
    const auto hurried = lua.Run(script, /*hurried=*/true);
    EXPECT_FALSE(whole.failed) << whole.text;
    EXPECT_EQ(whole.slices, 1);
    EXPECT_GT(hurried.slices, 3);
    EXPECT_EQ(hurried.text, whole.text);
  }
}

TEST(Sandbox, MemoryOfLibraryFunctionsIsLimited) {
  const char* const kBombs[] = {
      "cjson.encode_sparse_array(true, 0, 0) return #cjson.encode({[1e9] = 1})",
      "local t = {} for i = 1, 40 do t = {t, t} end return #cjson.encode(t)",
      "local s = ('x'):rep(1e6) local t = {} for i = 1, 7000 do t[i] = s end "
      "return #cjson.encode(t)",
      "local s = ('x'):rep(1e6) local t = {} for i = 1, 7000 do t[i] = s end "
      "return #cmsgpack.pack(t)",
      "local s = ('x'):rep(1e6) local t = {} for i = 1, 7000 do t[i] = s end "
      "return #struct.pack(('s'):rep(7000), unpack(t))",
      "local s = ('x'):rep(1e6) return (s:gsub('x', s))",
      "local s = ('x'):rep(1e6) return (s:gsub('x', function() return s end))",
      "local s = ('x'):rep(1e6) local t = {} for i = 1, 7000 do t[i] = s end "
      "return table.concat(t)",
      "return string.find(('a'):rep(4e6), ('a?'):rep(4e6) .. 'b')",
  };
  for (const char* const bomb : kBombs) {
    SCOPED_TRACE(bomb);
    SandboxedLua lua(1);
    const auto outcome = lua.Run(bomb, /*hurried=*/false);
    EXPECT_TRUE(outcome.failed);
    EXPECT_NE(outcome.text.find("not enough memory"), std::string::npos) << outcome.text;
  }
}

TEST(Sandbox, GarbageOfLargeRunsIsCollected) {
  SandboxedLua lua(1);
  lua.Run("return 1", false);
  const size_t before = lua.interpreter().bytes();
  for (const char* const script : {"local t = {} for i = 1, 20 do t[i] = ('x'):rep(1e6) .. i end",
                                   "local t = {} for i = 1, 2e5 do t[i] = {i} end",
                                   "local t = {} for i = 1, 2e6 do t[i] = i end",
                                   "local t = {} while true do t[#t + 1] = {} end"}) {
    SCOPED_TRACE(script);
    lua.Run(script, false);
    while (lua.interpreter().HasGarbage()) lua.interpreter().CollectGarbage(Micros::max());
    EXPECT_LT(lua.interpreter().bytes(), before + (1u << 20));
    EXPECT_LT(lua.allocated(), 2 * before + (1u << 20));
  }
}

TEST(Sandbox, RandomNumbersContinueFromRunToRun) {
  SandboxedLua lua(1);
  const std::string first = lua.Run("return math.random()", false).text;
  const std::string second = lua.Run("return math.random()", false).text;
  const std::string seeded = lua.Run("math.randomseed(7) return math.random()", false).text;
  const std::string third = lua.Run("return math.random()", false).text;
  EXPECT_NE(first, second);
  EXPECT_NE(second, third);
  EXPECT_EQ(seeded, lua.Run("math.randomseed(7) return math.random()", false).text);
  SandboxedLua same(1);
  EXPECT_EQ(same.Run("return math.random()", false).text, first);
  EXPECT_EQ(same.Run("return math.random()", false).text, second);
  EXPECT_EQ(same.Run("return math.random()", false).text, third) << "randomseed lasts for a run";
  EXPECT_NE(SandboxedLua(2).Run("return math.random()", false).text, first);
}

}  // namespace
}  // namespace zsetd
