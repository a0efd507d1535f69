#include "server/scripting/sandbox_code.h"

namespace zsetd {

const std::string_view kSandboxCode = R"lua(
local raw, state, is_suspending, is_main, is_environment = ...
local type, error, select, tostring, next = raw.type, raw.error, raw.select, raw.tostring, raw.next
local rawget, rawset, getmetatable, unpack = raw.rawget, raw.rawset, raw.getmetatable, raw.unpack
local find, sub, byte, tonumber = raw.find, raw.sub, raw.byte, raw.tonumber
local concat = raw.concat
local replaced = {}

-- Raises an error with the position of the script's call.
local fail = raw.fail
local function wrong_argument(number, name, expected, value)
  fail('bad argument #' .. number .. " to '" .. name .. "' (" .. expected .. ' expected, got ' ..
       type(value) .. ')')
end

-- An error of redis.call is a table. Scripts expect its text.
local function caught(ok, problem, ...)
  if not ok and type(problem) == 'table' then
    local text = rawget(problem, 'err')
    if type(text) == 'string' then return false, text end
  end
  return ok, problem, ...
end

local raw_pcall = raw.pcall
function replaced.pcall(...)
  if select('#', ...) == 0 then fail("bad argument #1 to 'pcall' (value expected)") end
  return caught(raw_pcall(...))
end

-- Calls the handler after the stack is unwound, because LuaJIT would call it from C.
local function handled(handler, ok, problem, ...)
  if ok then return ok, problem, ... end
  local _, answer = raw_pcall(handler, problem)
  return false, answer
end
function replaced.xpcall(f, handler, ...)
  if type(handler) ~= 'function' then wrong_argument(2, 'xpcall', 'function', handler) end
  return handled(handler, raw_pcall(f, ...))
end

-- When a coroutine of a script is late, it yields to the coroutine that resumed it, which yields in
-- turn, up to the script itself. When the script continues, each resumes the next one.
--
-- Each nested resume uses the processor's stack. LuaJIT does not check its size, so this does.
local create, raw_resume, raw_yield = raw.create, raw.resume, raw.yield
local most_nested = 150
local resumed
local function resume(co, ...)
  if type(co) ~= 'thread' then fail("bad argument #1 to 'resume' (coroutine expected)") end
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
  if type(f) ~= 'function' then wrong_argument(1, 'wrap', 'function', f) end
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

-- If the run is late, slow library functions return `unfinished` and their call.
local unfinished, pause, continue = raw.unfinished, raw.pause, raw.continue
local function settled(...)
  if (...) ~= unfinished then return ... end
  pause()
  return settled(continue(select(2, ...)))
end
local function settling(f) return function(...) return settled(f(...)) end end
replaced.settling = settling
replaced.find, replaced.match = settling(raw.find), settling(raw.match)

-- Loads only text, not bytecode, and only up to this size.
local most_bytes = 16 * 1024 * 1024
local raw_load = raw.load
local function load_text(text, name)
  if #text > most_bytes then return nil, 'chunk is too long' end
  pause()
  return raw_load(text, name)
end
function replaced.loadstring(text, name)
  if type(text) == 'number' then text = tostring(text) end
  if type(text) ~= 'string' then wrong_argument(1, 'loadstring', 'string', text) end
  return load_text(text, name or text)
end
function replaced.load(source, name)
  if type(source) == 'string' then return load_text(source, name or source) end
  if type(source) ~= 'function' then wrong_argument(1, 'load', 'function', source) end
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

local next_match, check_gmatch = raw.next_match, raw.check_gmatch
function replaced.gmatch(...)
  local text, pattern = check_gmatch(...)
  local from = 0
  local function advance(next_from, ...)
    if not next_from then return nil end
    if next_from == unfinished then return advance(settled(next_from, ...)) end
    from = next_from
    return ...
  end
  return function() return advance(next_match(text, pattern, from)) end
end

-- gsub with a function, or with a table that may have an __index, is a loop in Lua. A pattern that
-- begins with ^ matches only at the start.
local scan, replace, check_gsub = raw.scan, raw.replace, raw.check_gsub
local function new_value(repl, kind, whole, ...)
  local value
  if kind == 'function' then value = repl(...) else value = repl[(...)] end
  if not value then return whole end
  if type(value) ~= 'string' and type(value) ~= 'number' then
    fail('invalid replacement value (a ' .. type(value) .. ')')
  end
  return value
end
local function replaced_match(text, repl, kind, start, finish, ...)
  if not start then return nil end
  return start, finish, new_value(repl, kind, sub(text, start, finish), ...)
end
local function replace_each(text, pattern, repl, kind, most)
  local is_anchored = byte(pattern, 1) == 94
  if is_anchored then pattern = sub(pattern, 2) end
  local pieces, size, count, from = {}, 0, 0, 1
  while count < most and from <= #text + 1 do
    local start, finish, value = replaced_match(text, repl, kind, settled(
        scan(text, pattern, from - 1, is_anchored)))
    if not start then break end
    count = count + 1
    pieces[size + 1] = sub(text, from, start - 1)
    pieces[size + 2] = value
    size = size + 2
    if finish >= start then
      from = finish + 1
    else
      size = size + 1
      pieces[size] = sub(text, start, start)
      from = start + 1
    end
    if is_anchored then break end
  end
  pieces[size + 1] = sub(text, from)
  return replaced.concat(pieces), count
end
local function gsub(text, pattern, repl, most, ...)
  local kind = type(repl)
  if kind ~= 'function' and kind ~= 'table' then
    return settled(replace(text, pattern, repl, most, ...))
  end
  text, pattern = check_gsub(text, pattern)
  if most == nil then most = #text + 1 end
  local limit = tonumber(most)
  if not limit then wrong_argument(4, 'gsub', 'number', most) end
  return replace_each(text, pattern, repl, kind, limit)
end
function replaced.gsub(...)
  if select('#', ...) < 3 then return settled(replace(...)) end
  return gsub(...)
end

-- A table may have a __tostring, whose result may be a table again.
local raw_format = raw.format
local function as_text(count, value, ...)
  if count == 0 then return end
  if type(value) == 'table' then
    value = tostring(value)
    if type(value) ~= 'string' then fail("'tostring' must return a string to 'format'") end
  end
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

-- A long result is concatenated from pieces, so that the run can be suspended between them.
local raw_concat = raw.concat
local piece_length = 5000
local function concat_piece(t, separator, from, to)
  local ok, piece = raw_pcall(raw_concat, t, separator, from, to)
  if not ok then fail(piece) end
  pause()
  return piece
end
local function concat_pieces(t, separator, from, to)
  local pieces, count = {}, 0
  while from <= to do
    local last = from + piece_length - 1
    count = count + 1
    pieces[count] = concat_piece(t, separator, from, last < to and last or to)
    from = last + 1
  end
  return raw_concat(pieces, separator)
end
function replaced.concat(t, separator, first, last)
  if type(t) == 'table' then
    local from, to = first == nil and 1 or tonumber(first), last == nil and #t or tonumber(last)
    if from and to and to - from >= piece_length and to - from < 2 ^ 31 and from % 1 == 0 then
      return concat_pieces(t, separator, from, to)
    end
  end
  return raw_concat(t, separator, first, last)
end

-- A merge sort, which reads and writes the elements without metamethods.
local raw_sort = raw.sort
local function merge_by(from, to, low, middle, high, before)
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
local function merge(from, to, low, middle, high)
  local left, right = low, middle
  local a, b = from[left], from[right]
  for place = low, high - 1 do
    if left < middle and (right >= high or not (b < a)) then
      to[place] = a
      left = left + 1
      a = from[left]
    else
      to[place] = b
      right = right + 1
      b = from[right]
    end
  end
end

-- Compares values that may not be comparable. An error does not contain the sandbox's position.
local function is_less(a, b) return a < b end
local function in_order(a, b)
  local ok, answer = raw_pcall(is_less, a, b)
  if ok then return answer end
  if type(answer) == 'string' and sub(answer, 1, 8) == 'sandbox:' then
    answer = sub(answer, (find(answer, ' ', 1, true)) + 1)
  end
  error(answer, 0)
end
local function have_type(t, count, wanted)
  for i = 1, count do
    if type(t[i]) ~= wanted then return false end
  end
  return true
end

-- Whether LuaJIT may sort the table. It must be short, because LuaJIT's sort can take quadratic
-- time. Its values must have one type that is compared without metamethods.
local function is_simple(t)
  local count, kind = #t, type(rawget(t, 1))
  if count > 100 or (kind ~= 'number' and kind ~= 'string') then return false end
  for i = 2, count do
    if type(rawget(t, i)) ~= kind then return false end
  end
  return true
end

function replaced.sort(t, before)
  if type(t) ~= 'table' or (before ~= nil and type(before) ~= 'function') then
    return raw_sort(t, before)
  end
  if before == nil and is_simple(t) then return raw_sort(t) end
  local count, from, to = #t, {}, {}
  for i = 1, count do from[i] = rawget(t, i) end
  local merge_runs = merge_by
  if before == nil then
    if have_type(from, count, 'number') or have_type(from, count, 'string') then
      merge_runs = merge
    else
      before = in_order
    end
  end
  local length = 1
  while length < count do
    for low = 1, count, 2 * length do
      local middle = low + length
      local high = middle + length
      if middle > count + 1 then middle = count + 1 end
      if high > count + 1 then high = count + 1 end
      merge_runs(from, to, low, middle, high, before)
    end
    from, to = to, from
    length = 2 * length
  end
  for i = 1, count do rawset(t, i, from[i]) end
end

-- The globals of a script are not in its table; a metatable finds them.
local raw_pairs = raw.pairs
local function all_globals(environment)
  local all = {}
  for name, value in next, state.globals do all[name] = value end
  for name, value in next, environment do all[name] = value end
  return all
end
function replaced.pairs(t)
  if type(t) == 'table' and getmetatable(t) == false and is_environment(t) then
    return next, all_globals(t), nil
  end
  return raw_pairs(t)
end

local function check_each(name, t, f)
  if type(t) ~= 'table' then wrong_argument(1, name, 'table', t) end
  if type(f) ~= 'function' then wrong_argument(2, name, 'function', f) end
end
function replaced.foreach(t, f)
  check_each('foreach', t, f)
  for key, value in next, t do
    local answer = f(key, value)
    if answer ~= nil then return answer end
  end
end
function replaced.foreachi(t, f)
  check_each('foreachi', t, f)
  for i = 1, #t do
    local answer = f(i, rawget(t, i))
    if answer ~= nil then return answer end
  end
end
function replaced.setn() fail("'setn' is obsolete") end

return replaced
)lua";

}  // namespace zsetd
