"""The examples of the documents show replies as redis-cli does, on the server on $PORT."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from console import Console, PLAIN_TEXT, words  # noqa: E402

PORT = int(os.environ["PORT"])
REQUESTS = [
    r'SET "a b" "quote \" backslash \\ line\n \x00\xff"', r'GET "a b"', "GET none", "STRLEN 'a b'",
    "SET", "ZADD z 1.5 a 2 b inf c", "ZRANGE z 0 -1 WITHSCORES", "ZSCORE z a", "HSET h f v g w",
    "HGETALL h", "SADD s x", "SMEMBERS s", "SMEMBERS none", "HGETALL none", "LRANGE none 0 -1",
    "EVAL 'return {1,{2,{},{3,4}},ARGV[1],{5}}' 0 x", "EVAL 'return {1,2,3,4,5,6,7,8,9,{1,2},11}' 0",
    "SCRIPT EXISTS x y", "XADD x 1-1 f v", "XRANGE x - +", "XINFO STREAM x",
    "CLIENT NO-EVICT off",
    "DEBUG PROTOCOL null", "DEBUG PROTOCOL true", "DEBUG PROTOCOL verbatim", "DEBUG PROTOCOL map",
    "MEMORY DOCTOR", "COMMAND COUNT"]


class ConsoleFormat(unittest.TestCase):
    def check(self, protocol, *options):
        done = subprocess.run(["redis-cli", "-p", str(PORT), "--no-raw", *options], text=True,
                              input="FLUSHALL\n" + "".join(line + "\n" for line in REQUESTS),
                              capture_output=True, encoding="latin-1", check=True)
        client = Console(PORT, protocol)
        self.addCleanup(client.close)
        lines = client.call("FLUSHALL").lines()
        for request in REQUESTS:
            arguments = words(request)
            lines += client.call(*arguments).lines(PLAIN_TEXT.match(" ".join(arguments)) is not None)
        self.assertEqual(lines, [line.rstrip(" ") for line in done.stdout.split("\n") if line])

    def test_replies_in_resp2(self):
        self.check(2)

    def test_replies_in_resp3(self):
        self.check(3, "-3")


if __name__ == "__main__":
    unittest.main()
