"""Scripts that run too long: other clients get replies, the script can be ended, and a unit is
never left half done."""

import hashlib
import signal
import unittest

from server_process import eventually
from zsetd import SANITIZED, ZsetdTest

ENDLESS = "while true do end"
BUSY = "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
BUSY_FUNCTION = BUSY.replace("SCRIPT KILL", "FUNCTION KILL")
KILLED = "Script killed by user with SCRIPT KILL."


class Scripts(ZsetdTest):
    def start_busy(self, script=ENDLESS, *arguments, threshold="20"):
        """Starts a server. Returns the client whose script runs, and one that has received BUSY."""
        self.start("--busy-reply-threshold", threshold)
        caller, other = self.connect(), self.connect()
        caller.send("EVAL", script, *(arguments or ["0"]))
        self.assertTrue(eventually(lambda: self.is_busy(other)))
        return caller, other

    def is_busy(self, client):
        return str(client.ask("PING")) == BUSY

    def test_that_are_slow_do_not_keep_others_from_replies(self):
        self.start("--busy-reply-threshold", "50")
        caller, other = self.connect(), self.connect()
        caller.send("EVAL", ENDLESS, "0")
        self.assertTrue(eventually(lambda: self.is_busy(other)))
        self.assertEqual(str(other.ask("GET", "k")), BUSY)
        self.assertEqual(str(other.ask("SHUTDOWN")), BUSY)
        self.assertEqual(other.ask("SCRIPT", "KILL"), b"OK")
        self.assertIn(KILLED, str(caller.reply()))
        self.assertEqual(other.ask("PING"), b"PONG")
        self.assertEqual(caller.ask("PING"), b"PONG")

    def test_log_at_the_given_level(self):
        server = self.start("--loglevel", "verbose")
        client = self.connect()
        for level in ("DEBUG", "VERBOSE", "NOTICE", "WARNING"):
            client.ask("EVAL", f"redis.log(redis.LOG_{level}, 'from a script:', '{level}', 1)", "0")
        client.ask("CONFIG", "SET", "loglevel", "warning")
        client.ask("EVAL", "redis.log(redis.LOG_NOTICE, 'from a script: nothing')", "0")
        client.ask("EVAL", "redis.log(redis.LOG_WARNING, 'from a script: the end')", "0")
        self.assertTrue(eventually(lambda: "the end" in server.log()))
        lines = [line.split(maxsplit=5)[5] for line in server.log().splitlines() if "a script" in line]
        self.assertEqual(lines, ["- from a script: VERBOSE 1", "* from a script: NOTICE 1",
                                 "# from a script: WARNING 1", "# from a script: the end"])

    def test_have_each_command_that_is_missing_logged_once(self):
        server = self.start()
        client = self.connect()
        for _ in range(3):
            client.ask("EVAL", "redis.pcall('VADD', 's', 'VALUES', '1', '2', 'v') redis.pcall('nope')", "0")
        self.assertTrue(eventually(lambda: "VADD" in server.log()))
        client.ask("VADD", "s", "VALUES", "1", "2", "v")
        client.ask("EVAL", "redis.log(redis.LOG_WARNING, 'the end')", "0")
        self.assertTrue(eventually(lambda: "the end" in server.log()))
        self.assertEqual(server.log().count("VADD"), 1)
        self.assertNotIn("nope", server.log())

    def test_can_be_ended_wherever_they_loop(self):
        loops = [
            "while true do pcall(function() while true do end end) end",
            "local co = coroutine.wrap(function() while true do end end) co()",
            "coroutine.wrap(function() coroutine.wrap(function() while true do end end)() end)()",
            "xpcall(function() error('x') end, function() while true do end end)",
            "table.sort({3,2,1}, function(a,b) while true do end end)",
            "string.gsub('abc', '.', function() while true do end end)",
            "return tostring(setmetatable({}, {__tostring = function() while true do end end}))",
            "return string.format('%s', setmetatable({}, {__tostring = function() while true do end end}))",
            "return setmetatable({}, {__index = function() while true do end end}).x",
            "load(function() while true do end end)",
            "for x in function() while true do end end do end",
            "local function f() return f() end f()",
            "while true do redis.call('GET', 'x') end",
            "while true do redis.pcall('nope') end",
            # Metatables that getmetatable hides.
            "string.gsub('a', 'a', setmetatable({}, {__metatable=false, __index=function() while true do pcall(function() while true do end end) end end}))",
            "return tostring(setmetatable({}, {__metatable=false, __tostring=function() while true do end end}))",
            "local m = {__metatable=false, __lt=function() while true do end end} table.sort({setmetatable({}, m), setmetatable({}, m)})",
            # Calls of library functions that take minutes.
            "string.find(string.rep('a', 30000), string.rep('.-', 9) .. 'b')",
            "string.gsub(string.rep('a', 30000), string.rep('.-', 9) .. 'b', '')",
            "for x in string.gmatch(string.rep('a', 30000), string.rep('.-', 9) .. 'b') do end",
            "local t = {} for i = 1, 1e6 do t[i] = -i end while true do table.sort(t) end",
            "local t = {} for i = 1, 40 do t = {t, t} end while true do pcall(cjson.encode, t) end",
            "cjson.encode_sparse_array(true, 0, 0) while true do pcall(cjson.encode, {[1e9]=1}) end",
        ]
        self.start("--busy-reply-threshold", "20")
        other = self.connect()
        for loop in loops:
            with self.subTest(loop=loop):
                caller = self.connect()
                caller.send("EVAL", loop, "0")
                self.assertTrue(eventually(lambda: self.is_busy(other)))
                self.assertEqual(other.ask("SCRIPT", "KILL"), b"OK")
                self.assertIn(KILLED, str(caller.reply()))

    def test_that_loop_in_a_library_function_do_not_keep_the_server_from_ending(self):
        _, other = self.start_busy(
            "string.gsub('a', 'a', setmetatable({}, {__metatable=false, __index=function() "
            "while true do pcall(function() while true do end end) end end}))")
        self.server.process.send_signal(signal.SIGTERM)
        self.server.process.send_signal(signal.SIGTERM)
        self.assertTrue(eventually(self.server.ended))

    def test_with_hidden_metatables_do_not_exhaust_the_stack(self):
        self.start()
        client = self.connect()
        for script in [
                "local m={__metatable=false} m.__index=function(t,k) return (string.gsub('a','a',t)) end "
                "return string.gsub('a','a',setmetatable({},m))",
                "local m={__metatable=false} m.__tostring=function(t) return string.format('%s',t) end "
                "return string.format('%s',setmetatable({},m))",
                "local m={__metatable=false} local t=setmetatable({},m) m.__tostring=function() return t end "
                "return string.format('%s',t)",
                "local m={__metatable=false} local t={setmetatable({},m),setmetatable({},m)} "
                "m.__lt=function() table.sort(t) end table.sort(t)"]:
            with self.subTest(script=script):
                self.assertIsInstance(client.ask("EVAL", script, "0"), RuntimeError)
        self.assertEqual(client.ask("PING"), b"PONG")

    def test_that_load_a_library_are_ended_in_any_function(self):
        self.start()
        client = self.connect()
        for loop in ["string.find(string.rep('a', 30000), string.rep('.-', 9) .. 'b')",
                     "local t = {} for i = 1, 40 do t = {t, t} end while true do pcall(cjson.encode, t) end",
                     "while true do table.insert({}, -2^31, 1) end"]:
            with self.subTest(loop=loop):
                reply = client.ask("FUNCTION", "LOAD", f"#!lua name=lib\n{loop}")
                self.assertIn("FUNCTION LOAD timeout", str(reply))

    def test_leave_garbage_that_evicts_no_key(self):
        self.start("--maxmemory", "60mb", "--maxmemory-policy", "allkeys-lru",
                   "--enable-debug-command", "yes")
        client = self.connect()
        client.ask("DEBUG", "POPULATE", "20000", "k", "1000")
        self.assertEqual(client.ask("DBSIZE"), 20000)
        used = int(self.info(client)["used_memory"])
        garbage = "local t={} for i=1,200 do t[i]=string.rep('x',1000000)..i end return #t"
        self.assertEqual(client.ask("EVAL_RO", garbage, "0"), 200)
        self.assertEqual(client.ask("SET", "a", "b"), b"OK")
        self.assertEqual(client.ask("DBSIZE"), 20001)
        if not SANITIZED:  # a sanitizer retains freed memory
            self.assertLess(int(self.info(client)["used_memory"]), used + 5_000_000)
            self.assertLess(int(self.info(client)["used_memory_peak"]), used + 10_000_000)
        self.assertTrue(eventually(lambda: int(self.info(client)["used_memory_vm_eval"]) < 5_000_000))
        # A library that retains its arguments.
        client.ask("FUNCTION", "LOAD", "#!lua name=lib\nlocal kept = {} redis.register_function('keep', "
                   "function(keys, args) kept[#kept + 1] = args return #kept end)")
        for i in range(100):
            self.assertEqual(client.ask("FCALL", "keep", "0", f"{i}" + "x" * 1_000_000), i + 1)
        self.assertGreater(int(self.info(client)["used_memory_vm_functions"]), 100_000_000)
        self.assertEqual(client.ask("DBSIZE"), 20001)
        self.assertEqual(client.ask("SET", "a", "c"), b"OK")

    def test_that_have_written_cannot_be_ended(self):
        caller, other = self.start_busy(
            "redis.call('SET','k','1') local n = tonumber(ARGV[1]) for i = 1, n do end "
            "redis.call('SET','k','2') return 'done'", "0", "300000000")
        self.assertTrue(str(other.ask("SCRIPT", "KILL")).startswith("UNKILLABLE"))
        self.assertTrue(str(other.ask("FUNCTION", "KILL")).startswith("UNKILLABLE"))
        self.assertEqual(caller.reply(), b"done")
        self.assertEqual(other.ask("GET", "k"), b"2")

    def test_that_have_not_written_are_ended_by_the_command_of_their_kind(self):
        caller, other = self.start_busy("while true do end")
        self.assertEqual(str(other.ask("FUNCTION", "KILL")), BUSY)
        self.assertEqual(other.ask("SCRIPT", "KILL"), b"OK")
        self.assertIn(KILLED, str(caller.reply()))

    def test_whose_reply_takes_too_long_get_an_error(self):
        self.start()
        client = self.connect()
        for field in ("map", "set"):  # a table that has lost its keys keeps their slots
            reply = client.ask(
                "EVAL", "local h = {} for i = 1, 2000000 do h[i + 0.5] = 1 end "
                "for k in pairs(h) do h[k] = nil end local m, a = {[ARGV[1]] = h}, {} "
                "for i = 1, 5000 do a[i] = m end return a", "0", field)
            self.assertEqual(str(reply), "ERR the reply of the script has too many elements")

    def test_are_finished_without_their_client(self):
        caller, other = self.start_busy(
            "redis.call('SET','k','1') for i = 1, 300000000 do end redis.call('SET','k','2')")
        caller.socket.close()
        self.assertTrue(eventually(lambda: not self.is_busy(other)))
        self.assertEqual(other.ask("GET", "k"), b"2")

    def test_after_their_client_was_killed_belong_to_its_transaction(self):
        self.start()
        caller, other = self.connect(), self.connect()
        number = caller.ask("CLIENT", "ID")
        caller.ask("MULTI")
        for words in (["EVAL", "return redis.call('SET','k','1')", "0"],
                      ["CLIENT", "KILL", "ID", number, "SKIPME", "no"],
                      ["EVAL", "return redis.call('INCR','k')", "0"]):
            self.assertEqual(caller.ask(*words), b"QUEUED")
        caller.send("EXEC")
        self.assertTrue(eventually(lambda: other.ask("CLIENT", "LIST", "ID", number) == b""))
        self.assertEqual(other.ask("GET", "k"), b"2")

    def test_in_a_transaction_are_finished_with_it(self):
        self.start("--busy-reply-threshold", "20")
        caller, other = self.connect(), self.connect()
        caller.ask("MULTI")
        for words in (["SET", "k", "1"], ["EVAL", "for i = 1, 300000000 do end return 7", "0"],
                      ["EVAL", "for i = 1, 200000000 do end return 8", "0"], ["INCR", "k"]):
            self.assertEqual(caller.ask(*words), b"QUEUED")
        caller.send("EXEC")
        self.assertTrue(eventually(lambda: self.is_busy(other)))
        self.assertEqual(caller.reply(), [b"OK", 7, 8, 2])
        self.assertEqual(other.ask("GET", "k"), b"2")

    def test_in_a_transaction_are_finished_without_their_client(self):
        self.start("--busy-reply-threshold", "20")
        caller, other = self.connect(), self.connect()
        caller.ask("MULTI")
        caller.ask("SET", "k", "1")
        caller.ask("EVAL", "for i = 1, 300000000 do end", "0")
        caller.ask("INCR", "k")
        caller.send("EXEC")
        self.assertTrue(eventually(lambda: self.is_busy(other)))
        caller.socket.close()
        self.assertTrue(eventually(lambda: not self.is_busy(other)))
        self.assertEqual(other.ask("GET", "k"), b"2")

    def test_keep_blocked_clients_waiting(self):
        self.start("--busy-reply-threshold", "20")
        waiting, caller, other = self.connect(), self.connect(), self.connect()
        waiting.send("BLPOP", "list", "0")
        self.assertTrue(eventually(lambda: b"blocked_clients:1" in other.ask("INFO", "clients")))
        caller.send("EVAL", "redis.call('RPUSH','list','a') for i = 1, 300000000 do end "
                    "return redis.call('LLEN','list')", "0")
        self.assertTrue(eventually(lambda: self.is_busy(other)))
        self.assertEqual(caller.reply(), 1)
        self.assertEqual(waiting.reply(), [b"list", b"a"])

    def test_in_functions_are_ended_by_function_kill(self):
        self.start("--busy-reply-threshold", "20")
        caller, other = self.connect(), self.connect()
        caller.ask("FUNCTION", "LOAD",
                   "#!lua name=lib\nredis.register_function('loop', function() while true do end end)")
        caller.send("FCALL", "loop", "0")
        self.assertTrue(eventually(lambda: str(other.ask("PING")) == BUSY_FUNCTION))
        stats = other.ask("FUNCTION", "STATS")
        self.assertEqual(stats[1][:4], [b"name", b"loop", b"command", [b"FCALL", b"loop", b"0"]])
        self.assertEqual(str(other.ask("SCRIPT", "KILL")), BUSY_FUNCTION)
        self.assertEqual(other.ask("FUNCTION", "KILL"), b"OK")
        self.assertIn("Script killed by user with FUNCTION KILL.", str(caller.reply()))

    def test_do_not_keep_the_server_from_ending(self):
        _, other = self.start_busy()
        other.send("SHUTDOWN", "NOSAVE")
        self.assertTrue(eventually(self.server.ended))

    def test_that_exceed_the_memory_get_an_error(self):
        self.start("--script-memory-limit", "16mb")
        client = self.connect()
        floods = [
            "return #string.rep('x', 100000000)",
            "local s = 'x' while true do s = s .. s end",
            "local t = {} while true do t[#t + 1] = {} end",
            "local t = {} for i = 1, 1e9 do t[i] = i end",
            "return {pcall(string.rep, 'x', 1e9)}",
            "local function f(...) return f(1, ...) end return f()",
            "local function r() return 1 + r() end return r()",
            "return cjson.encode(string.rep('x', 15000000))",
            "return cjson.decode('[' .. string.rep('{},', 5000000) .. '1]')",
            "cjson.encode_sparse_array(true,0,0) return #cjson.encode({[1e9]=1})",
            "local t = {} for i = 1, 40 do t = {t, t} end return #cjson.encode(t)",
            "local s, t = string.rep('x', 1e6), {} for i = 1, 7000 do t[i] = s end return redis.log(redis.LOG_WARNING, unpack(t))",
        ]
        for flood in floods:
            with self.subTest(flood=flood):
                reply = client.ask("EVAL", flood, "0")
                self.assertTrue(isinstance(reply, (RuntimeError, list)), reply)
        self.assertEqual(client.ask("EVAL", "return 1", "0"), 1)

    def test_of_eval_are_dropped_except_the_last_500(self):
        self.start()
        client = self.connect()
        loaded = client.ask("SCRIPT", "LOAD", "return 'loaded'")
        for i in range(510):
            self.assertEqual(client.ask("EVAL", f"return {i}", "0"), i)
            client.ask("EVAL", "return 0", "0")  # remains in use
        known = [client.ask("SCRIPT", "EXISTS", hashlib.sha1(f"return {i}".encode()).hexdigest())[0]
                 for i in range(510)]
        self.assertEqual(known, [1] + [0] * 10 + [1] * 499)
        self.assertEqual(client.ask("EVALSHA", loaded, "0"), b"loaded")
        self.assertEqual(self.info(client)["number_of_cached_scripts"], "501")
        self.assertEqual(self.info(client)["evicted_scripts"], "10")
        client.ask("SCRIPT", "FLUSH")
        self.assertEqual(self.info(client)["evicted_scripts"], "10")

    def test_are_counted_with_the_memory_they_take(self):
        self.start()
        client = self.connect()
        before = self.info(client)
        self.assertEqual(before["used_memory_vm_eval"], "0")  # no interpreter yet
        client.ask("SCRIPT", "LOAD", f"return '{'x' * 100000}'")
        client.ask("FUNCTION", "LOAD", "#!lua name=lib\nlocal text = string.rep('x', 200000)\n"
                   "redis.register_function('a', function() return #text end)\n"
                   "redis.register_function('b', function() return 2 end)")
        after = self.info(client)
        self.assertEqual([after["number_of_cached_scripts"], after["number_of_functions"],
                          after["number_of_libraries"]], ["1", "2", "1"])
        self.assertGreater(int(after["used_memory_vm_eval"]), 100000)
        self.assertGreater(int(after["used_memory_vm_functions"]), 200000)
        self.assertGreater(int(after["used_memory_scripts"]), 0)
        if not SANITIZED:  # which counts memory in another way
            self.assertLess(int(after["used_memory"]) - int(before["used_memory"]), 250000)
        client.ask("SCRIPT", "FLUSH")
        client.ask("FUNCTION", "FLUSH")
        self.assertEqual(self.info(client)["used_memory_vm_total"], "0")

    def test_obey_settings_that_are_changed(self):
        self.start()
        caller, other = self.connect(), self.connect()
        self.assertEqual(other.ask("CONFIG", "SET", "lua-time-limit", "30"), b"OK")
        self.assertEqual(other.ask("CONFIG", "GET", "busy-reply-threshold"),
                         [b"busy-reply-threshold", b"30"])
        caller.send("EVAL", ENDLESS, "0")
        self.assertTrue(eventually(lambda: self.is_busy(other)))
        self.assertEqual(other.ask("SCRIPT", "KILL"), b"OK")
        self.assertIn(KILLED, str(caller.reply()))
        self.assertEqual(other.ask("CONFIG", "SET", "script-memory-limit", "2mb"), b"OK")
        flood = "return #string.rep('x', 4000000)"
        self.assertIn("not enough memory", str(caller.ask("EVAL", flood, "0")))
        self.assertEqual(other.ask("CONFIG", "SET", "script-memory-limit", "64mb"), b"OK")
        self.assertEqual(caller.ask("EVAL", flood, "0"), 4000000)

    def info(self, client):
        lines = client.ask("INFO").decode().split("\r\n")
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def test_can_be_turned_off(self):
        self.start("--scripting", "no")
        client = self.connect()
        for words in (["EVAL", "return 1", "0"], ["SCRIPT", "LOAD", "return 1"], ["FCALL", "f", "0"]):
            self.assertIn("turned off", str(client.ask(*words)))
        self.assertEqual(client.ask("SCRIPT", "EXISTS", "x"), [0])
        self.assertEqual(client.ask("FUNCTION", "LIST"), [])


if __name__ == "__main__":
    unittest.main()
