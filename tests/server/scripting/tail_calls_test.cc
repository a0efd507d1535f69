#include "server/scripting/tail_calls.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace zsetd {
namespace {

constexpr std::string_view kGuard = "nil or ";

// The code whose changed form is `changed`.
std::string Original(std::string changed) {
  for (size_t at = changed.find(kGuard); at != std::string::npos; at = changed.find(kGuard, at)) {
    changed.erase(at, kGuard.size());
  }
  return changed;
}

TEST(TailCalls, OfFunctionsWithOneResultAreGuarded) {
  for (const char* const changed : {
           "return nil or redis.call('GET', KEYS[1])",
           "return  nil or redis.call('GET', ')')  -- :x",
           "local function f() return nil or error({err = 'x'}) end return f()",
           "if a then return nil or bit.band(1, (2)) else return nil or cjson.encode({}) end",
           "return nil or redis.pcall('EVAL', f(function() return nil or error('x') end)), 1",
           "local redis_call = redis.call return nil or redis.call('PING')",
           "t.error = 1 return nil or error(t)",
           "return nil or struct.pack('i', 1);",
           "return nil or tonumber('1') or 2",
       }) {
    EXPECT_EQ(WithoutTailCalls(Original(changed)), changed);
  }
}

TEST(TailCalls, OfOtherFunctionsStay) {
  for (const char* const code : {
           "return cjson.encode_sparse_array()",
           "return string.find('a', 'a')",
           "return redis.unknown()",
           "return error",
           "x = 'return error(1)' --return error(1)\n--[[return error(1)]] y = [=[return "
           "error(1)]=]",
           "xreturn error(1)",
       }) {
    EXPECT_EQ(WithoutTailCalls(code), code);
  }
}

// The value after `return` is another call's.
TEST(TailCalls, OfAResultStay) {
  for (const char* const code : {
           "return string.rep('x', 2):gsub('x', 'y')",
           "return cjson.decode(s).f(1)",
           "return cjson.decode(s)[1](1)",
           "return cjson.decode(s) -- x\n (1)",
           "return cjson.decode(s) 'x'",
           "return cjson.decode(s) {1}",
           "return cjson.decode(s) [[x]]",
       }) {
    EXPECT_EQ(WithoutTailCalls(code), code);
  }
}

TEST(TailCalls, OfNamesWithAnotherMeaningStay) {
  for (const char* const code : {
           "local bit = {band = f} return bit.band(1)",
           "local a, bit = 1, {} return bit.band(1)",
           "return bit.band(1) local function f() bit = 1 end",
           "local function error(x) return x, x end return error(1)",
           "local function f(a, cjson) return cjson.encode(1) end",
           "for redis in f do return redis.call(1) end",
           "function redis.call() end return redis.call()",
           "local redis",
       }) {
    EXPECT_EQ(WithoutTailCalls(code), code);
  }
  EXPECT_EQ(WithoutTailCalls("local bit = bit return bit.bnot(1), redis.call('x') "
                             "if x then return redis.call('x') end"),
            "local bit = bit return bit.bnot(1), redis.call('x') "
            "if x then return nil or redis.call('x') end");
}

TEST(TailCalls, UnfinishedCodeStays) {
  for (const char* const code : {"return error(", "return error('", "return error(')", "return",
                                 "return ", ") return error((1)", "return error([[", "--[["}) {
    EXPECT_EQ(WithoutTailCalls(code), code);
  }
}

}  // namespace
}  // namespace zsetd
