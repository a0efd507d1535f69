#pragma once

#include <lua.hpp>
#include <string>
#include <string_view>

#include "protocol/resp/args.h"
#include "protocol/resp/reply_writer.h"

namespace zsetd {

class Call;

// Values on their way between replies and Lua, as Redis converts them.
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
//   with RESP3, after redis.setresp(3), moreover
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

// Pushes the value of one whole reply of this server's own. A Lua error if memory is short.
void PushReply(lua_State* lua, std::string_view reply);

// Replies the value on top of the stack, and pops it. `resp3`: the script has asked for RESP3.
// O(size). A table nested too deep for the stack makes it an error.
void ReplyWithValue(lua_State* lua, Call& call, bool resp3);

// An error in the form of redis.call: {err = text}. `line` is the whole error line with its code;
// ERR is added if it has none.
void PushError(lua_State* lua, std::string_view line, bool is_counted = false);

// The text of an error value and whether it has been counted; the value stays.
struct ErrorText {
  std::string line;
  bool is_counted = false;
};
ErrorText TextOfError(lua_State* lua, int index);

}  // namespace zsetd
