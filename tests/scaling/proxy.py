"""A proxy that runs with a file from conf/examples; a test replaces its addresses."""

import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import unittest

import redis

from server_process import ServerProcess, eventually, free_port

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "conf" / "examples"
SYSTEM_PATH = os.environ["PATH"] + ":/usr/sbin"  # where Debian installs proxies


def program(name):
    return shutil.which(name, path=SYSTEM_PATH)


def replaced(text, addresses):
    """Returns the text with other addresses. Each replaced address must occur in the text."""
    for before, after in addresses.items():
        assert before in text, before
        text = text.replace(before, after)
    return text


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class ProxyTest(unittest.TestCase):
    def start_server(self, name="zsetd", *options):
        server = ServerProcess(os.environ["ZSETD"] if name == "zsetd" else name, *options)
        server.client = redis.Redis(port=server.port, decode_responses=True)
        self.addCleanup(server.stop)
        self.addCleanup(server.client.close)
        return server

    def start_proxy(self, command, example, addresses, port):
        """Runs the command with the path of the example as its last argument."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name, example)
        path.write_text(replaced((EXAMPLES / example).read_text(), addresses))
        with (path.parent / "log").open("wb") as log:
            process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", *command, path],
                                       stdout=log, stderr=log, cwd=folder.name)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        eventually(lambda: process.poll() is not None or listens(port))
        self.assertIsNone(process.poll(), (path.parent / "log").read_text())

    def connect(self, port):
        client = redis.Redis(port=port, decode_responses=True)
        self.addCleanup(client.close)
        return client
