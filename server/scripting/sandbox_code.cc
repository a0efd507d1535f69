#include "server/scripting/sandbox_code.h"

namespace zsetd {

const std::string_view kSandboxCode = R"lua(
local raw, state, is_suspending, is_main, is_environment = ...
local type, error, select, tostring, next = raw.type, raw.error, raw.select, raw.tostring, raw.next
local rawget, rawset, getmetatable, unpack = raw.rawget, raw.rawset, raw.getmetatable, raw.unpack
local find, sub, byte = raw.find, raw.sub, raw.byte
local concat = raw.concat
local replaced = {}

-- An error of redis.call is a table, which scripts expect as its text.
local function caught(ok, problem, ...)
  if not ok and type(problem) == 'table' then
    local text = rawget(problem, 'err')
    if type(text) == 'string' then return false, text end
  end
  return ok, problem, ...
end

local raw_pcall = raw.pcall
function replaced.pcall(...) return caught(raw_pcall(...)) end

-- The handler is called when the stack is unwound: LuaJIT would call it from C.
local function handled(handler, ok, problem, ...)
  if ok then return ok, problem, ... end
  local _, answer = raw_pcall(handler, problem)
  return false, answer
end
function replaced.xpcall(f, handler, ...) return handled(handler, raw_pcall(f, ...)) end

-- A coroutine within a script that is suspended by the clock hands the suspension on to the one
-- that resumed it, up to the script itself, and is resumed in turn when that goes on.
--
-- Each that resumes another takes a piece of the processor's stack, which LuaJIT does not check.
local create, raw_resume, raw_yield = raw.create, raw.resume, raw.yield
local most_nested = 150
local resumed
local function resume(co, ...)
  if state.nested >= most_nested then return false, 'C stack overflow' end
  state.nested = state.nested + 1
  return resumed(co, raw_resume(co, ...))
end
function resumed(co, ok, ...)
  if is_suspending() then
    raw_yield()
    return resumed(co, raw_resume(co))
  end
  state.nested = state.nested - 1
  return ok, ...
end
replaced.resume = resume

local function results(ok, ...)
  if ok then return ... end
  error((...), 0)
end
function replaced.wrap(f)
  local co = create(f)
  return function(...) return results(resume(co, ...)) end
end

function replaced.yield(...)
  if is_main() then error('attempt to yield from outside a coroutine', 0) end
  return raw_yield(...)
end

local raw_running = raw.running
function replaced.running()
  if is_main() then return nil end
  return (raw_running())
end

function replaced.rawset(t, k, v)
  if is_environment(t) then error('Attempt to modify a readonly table', 0) end
  return rawset(t, k, v)
end

local raw_setmetatable = raw.setmetatable
function replaced.setmetatable(t, metatable)
  if is_environment(t) then error('Attempt to modify a readonly table', 0) end
  return raw_setmetatable(t, metatable)
end

-- Text only, and of bounded size.
local most_bytes = 16 * 1024 * 1024
local raw_load = raw.load
local function load_text(text, name)
  if #text > most_bytes then return nil, 'chunk is too long' end
  return raw_load(text, name, 't')
end
function replaced.loadstring(text, name)
  return load_text(text, name or text)
end
function replaced.load(source, name)
  if type(source) == 'string' then return load_text(source, name or source) end
  local pieces, bytes = {}, 0
  while true do
    local piece = source()
    if piece == nil or piece == '' then break end
    if type(piece) ~= 'string' then return nil, 'reader function must return a string' end
    bytes = bytes + #piece
    if bytes > most_bytes then return nil, 'chunk is too long' end
    pieces[#pieces + 1] = piece
  end
  return load_text(concat(pieces), name or '=(load)')
end

-- With a function, or a table that may call one, instead of text. A pattern that begins with ^
-- matches at the start only.
local function replacement_of(repl, kind, whole, ...)
  local key = select('#', ...) > 0 and (...) or whole
  local value
  if kind == 'function' then
    if select('#', ...) > 0 then value = repl(...) else value = repl(whole) end
  else
    value = repl[key]
  end
  if not value then return whole end
  if type(value) ~= 'string' and type(value) ~= 'number' then
    error('invalid replacement value (a ' .. type(value) .. ')', 0)
  end
  return value
end
local function matched(start, finish, ...) return start, finish, select('#', ...), {...} end
local function replace_each(text, pattern, repl, kind, most)
  text, pattern = tostring(text), tostring(pattern)
  local is_anchored = byte(pattern, 1) == 94
  local pieces, count, from = {}, 0, 1
  most = most or #text + 1
  while count < most and from <= #text + 1 do
    local start, finish, captures, values = matched(find(text, pattern, from))
    if not start then break end
    count = count + 1
    pieces[#pieces + 1] = sub(text, from, start - 1)
    pieces[#pieces + 1] = replacement_of(repl, kind, sub(text, start, finish),
                                         unpack(values, 1, captures))
    if finish >= start then
      from = finish + 1
    else
      pieces[#pieces + 1] = sub(text, start, start)
      from = start + 1
    end
    if is_anchored then break end
  end
  pieces[#pieces + 1] = sub(text, from)
  return concat(pieces), count
end
local raw_gsub = raw.gsub
function replaced.gsub(text, pattern, repl, most)
  local kind = type(repl)
  if kind == 'function' or (kind == 'table' and getmetatable(repl)) then
    return replace_each(text, pattern, repl, kind, most)
  end
  return raw_gsub(text, pattern, repl, most)
end

-- Tables may have a __tostring.
local raw_format = raw.format
local function as_text(count, value, ...)
  if count == 0 then return end
  if type(value) == 'table' then value = tostring(value) end
  return value, as_text(count - 1, ...)
end
function replaced.format(...)
  for i = 1, select('#', ...) do
    if type((select(i, ...))) == 'table' then
      return raw_format(as_text(select('#', ...), ...))
    end
  end
  return raw_format(...)
end

-- Merges runs of doubling length. Without an order of its own, and without tables that may have
-- one, LuaJIT sorts.
local raw_sort = raw.sort
local function merge(from, to, low, middle, high, before)
  local left, right = low, middle
  for place = low, high - 1 do
    if left < middle and (right >= high or not before(from[right], from[left])) then
      to[place] = from[left]
      left = left + 1
    else
      to[place] = from[right]
      right = right + 1
    end
  end
end
local function in_order(a, b) return a < b end
local function has_tables(t)
  for i = 1, #t do
    if type(t[i]) == 'table' then return true end
  end
  return false
end
function replaced.sort(t, before)
  if type(t) ~= 'table' or (before == nil and not has_tables(t)) then return raw_sort(t) end
  if before ~= nil and type(before) ~= 'function' then return raw_sort(t, before) end
  before = before or in_order
  local count, from, to = #t, {}, {}
  for i = 1, count do from[i] = t[i] end
  local length = 1
  while length < count do
    for low = 1, count, 2 * length do
      local middle = low + length
      local high = middle + length
      if middle > count + 1 then middle = count + 1 end
      if high > count + 1 then high = count + 1 end
      merge(from, to, low, middle, high, before)
    end
    from, to = to, from
    length = 2 * length
  end
  for i = 1, count do t[i] = from[i] end
end

function replaced.foreach(t, f)
  for key, value in next, t do
    local answer = f(key, value)
    if answer ~= nil then return answer end
  end
end
function replaced.foreachi(t, f)
  for i = 1, #t do
    local answer = f(i, t[i])
    if answer ~= nil then return answer end
  end
end
function replaced.setn() error("'setn' is obsolete", 2) end

return replaced
)lua";

}  // namespace zsetd
