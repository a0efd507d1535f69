#pragma once

#include <lua.hpp>
#include <string>
#include <string_view>

#include "protocol/resp/args.h"
#include "protocol/resp/reply_writer.h"

namespace zsetd {

class Call;

// Conversions between replies and Lua values, as in Redis.
//
// clang-format off
//   RESP2 reply   Lua                     Lua                     reply
//   integer       number                  number                  integer, fraction cut off
//   bulk          string                  string                  bulk
//   array         table                   table                   array, up to the first nil
//   status        {ok = text}             {ok = text}             status
//   error         {err = text}            {err = text}            error
//   null          false                   false, nil              null
//                                         true                    1
//   additionally with RESP3, after redis.setresp(3)
//   map           {map = table}           {map = table}           map
//   set           {set = {[x] = true}}    {set = {[x] = true}}    set
//   null          nil                     nil                     null
//   true, false   true, false             true, false             true, false
//   double        {double = number}       {double = number}       double
//   big number    {big_number = digits}   {big_number = digits}   big number
//   verbatim      {verbatim_string = {format = f, string = s}}    verbatim, unchanged
// clang-format on

// Pushes an array of strings.
void PushArray(lua_State* lua, Args strings);

// Pushes the value of one complete reply of this server. Raises a Lua error if memory is short.
void PushReply(lua_State* lua, std::string_view reply);

// Sends the value on top of the stack as the reply, and pops it. `resp3`: the script has selected
// RESP3. O(size). A table that is nested too deep for the stack causes an error reply.
void ReplyWithValue(lua_State* lua, Call& call, bool resp3);

// Pushes an error in the form of redis.call: {err = text}. `line` is the whole error line with its
// code; ERR is added if it has none. `is_counted`: the error statistics already include it.
void PushError(lua_State* lua, std::string_view line, bool is_counted = false);

// The text of an error value, and whether the error statistics already include it. The value stays
// on the stack.
struct ErrorText {
  std::string line;
  bool is_counted = false;
};
ErrorText TextOfError(lua_State* lua, int index);

}  // namespace zsetd
