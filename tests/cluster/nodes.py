"""Nodes of a cluster with a static topology, each in its own process and folder."""

import os
import pathlib
import signal
import tempfile
import unittest

import redis

from server_process import ServerProcess, eventually, free_port

ZSETD = os.environ["ZSETD"]
REDIS = "redis-server"
SLOTS = 16384


class Node:
    """A node that reads and writes nodes.conf in its folder."""

    def __init__(self, number, port):
        self.id = f"{number:x}" * 40
        self.port = port
        self.folder = tempfile.TemporaryDirectory()
        self.nodes_file = pathlib.Path(self.folder.name, "nodes.conf")
        self.server = None

    def start(self, program=ZSETD, *options):
        self.server = ServerProcess(program, "--cluster-enabled", "yes", "--dir", self.folder.name,
                                    *options, port=self.port)
        self.client = redis.Redis(port=self.port, decode_responses=True)

    def stop(self):
        self.client.close()
        return self.server.stop()

    def kill(self):
        self.server.expected_exit_code = -signal.SIGKILL
        self.server.kill()

    def command(self, *words):
        return self.client.execute_command(*words)


def line(node, of, slots, master=None):
    """Returns the line of a node in the file of another one, or in its own."""
    flags = ("myself," if node is of else "") + ("slave" if master else "master")
    return (f"{node.id} 127.0.0.1:{node.port}@{node.port + 10000} {flags} "
            f"{master.id if master else '-'} 0 0 {int(node.id[0], 16)} connected {slots}".rstrip())


class ClusterTest(unittest.TestCase):
    def nodes(self, count):
        nodes = [Node(number, free_port()) for number in range(1, count + 1)]
        for node in nodes:
            self.addCleanup(self._see_off, node)
        return nodes

    def _see_off(self, node):
        if node.server is not None:
            self.assertIsNone(node.stop())
        node.folder.cleanup()

    def write_files(self, nodes, replica=None):
        """Divides the slots among the nodes. The replica is that of the first node."""
        share = SLOTS // len(nodes)
        bounds = [share * i for i in range(len(nodes))] + [SLOTS]
        for of in [*nodes, *([replica] if replica else [])]:
            lines = [line(node, of, f"{bounds[i]}-{bounds[i + 1] - 1}")
                     for i, node in enumerate(nodes)]
            if replica:
                lines.append(line(replica, of, "", nodes[0]))
            of.nodes_file.write_text("\n".join(lines) + "\nvars currentEpoch 9 lastVoteEpoch 0\n")

    def start_cluster(self, count):
        nodes = self.nodes(count)
        self.write_files(nodes)
        for node in nodes:
            node.start()
        return nodes

    def await_that(self, holds, what):
        self.assertTrue(eventually(holds), what)
