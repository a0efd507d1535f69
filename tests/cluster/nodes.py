"""Nodes of a cluster, each in its own process and folder."""

import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import tempfile
import unittest

import redis

from server_process import ServerProcess, eventually

ZSETD = os.environ["ZSETD"]
REDIS = "redis-server"
SLOTS = 16384
BUS_DISTANCE = 10000


def free_node_port():
    """Returns a port that is free, with the port of its bus, below those of outgoing connections."""
    while True:
        port = random.randrange(12000, 20000)
        with socket.socket() as client, socket.socket() as bus:
            if (client.connect_ex(("127.0.0.1", port)) != 0 and
                    bus.connect_ex(("127.0.0.1", port + BUS_DISTANCE)) != 0):
                return port


class Node:
    """A node that reads and writes nodes.conf in its folder."""

    def __init__(self, number, port, program=ZSETD):
        self.id = f"{number:x}" * 40
        self.port = port
        self.tls_port = 0
        self.program = program
        self.folder = tempfile.TemporaryDirectory()
        self.nodes_file = pathlib.Path(self.folder.name, "nodes.conf")
        self.server = None
        self.environment = {}

    def start(self, program=None, *options):
        if self.server is not None:
            self.server.stop()  # removes the folder of one that was killed
        self.server = ServerProcess(program or self.program, "--cluster-enabled", "yes",
                                    "--dir", self.folder.name, *options, port=self.port,
                                    environment=self.environment)
        self.client = redis.Redis(port=self.port, decode_responses=True)

    def stop(self):
        self.client.close()
        return self.server.stop()

    def suspend(self):
        self.server.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.server.process.send_signal(signal.SIGCONT)

    def kill(self):
        self.server.expected_exit_code = -signal.SIGKILL
        self.server.kill()

    def command(self, *words):
        return self.client.execute_command(*words)

    @property
    def base_port(self):
        """The port that the bus's one is derived from, and that redis-cli uses."""
        return self.tls_port or self.port

    @property
    def address(self):
        return f"127.0.0.1:{self.base_port}"

    def is_running(self):
        return self.server is not None and not self.server.ended()

    def my_id(self):
        return self.command("CLUSTER", "MYID")

    def is_up(self):
        return "cluster_state:ok" in self.command("CLUSTER", "INFO")

    def role(self):
        return self.client.info("replication")["role"]

    def view(self):
        """Returns the nodes as this one sees them: ID -> (flags, master's ID, link, slots)."""
        lines = [text.split(" ") for text in self.command("CLUSTER", "NODES").splitlines()]
        return {words[0]: (set(words[2].split(",")), words[3], words[7], words[8:])
                for words in lines}


def line(node, of, slots, master=None):
    """Returns the line of a node in the file of another one, or in its own."""
    flags = ("myself," if node is of else "") + ("slave" if master else "master")
    return (f"{node.id} 127.0.0.1:{node.port}@{node.port + BUS_DISTANCE} {flags} "
            f"{master.id if master else '-'} 0 0 {int(node.id[0], 16)} connected {slots}".rstrip())


class ClusterTest(unittest.TestCase):
    """Tests on nodes whose nodes.conf the test writes."""

    def nodes(self, count):
        """Returns nodes that the end of the test stops."""
        return self._nodes(count, self.addCleanup)

    @classmethod
    def nodes_of_class(cls, count):
        """Returns nodes that the end of the class stops."""
        return cls._nodes(count, cls.addClassCleanup)

    @classmethod
    def _nodes(cls, count, add_cleanup):
        nodes = [Node(number, free_node_port()) for number in range(1, count + 1)]
        for node in nodes:
            add_cleanup(cls._see_off, node)
        return nodes

    @staticmethod
    def _see_off(node):
        problem = node.stop() if node.server is not None else None
        node.folder.cleanup()
        assert problem is None, problem

    @staticmethod
    def write_files(nodes, replica=None):
        """Divides the slots among the nodes. The replica is that of the first node."""
        share = SLOTS // len(nodes)
        bounds = [share * i for i in range(len(nodes))] + [SLOTS]
        for of in [*nodes, *([replica] if replica else [])]:
            lines = [line(node, of, f"{bounds[i]}-{bounds[i + 1] - 1}")
                     for i, node in enumerate(nodes)]
            if replica:
                lines.append(line(replica, of, "", nodes[0]))
            of.nodes_file.write_text("\n".join(lines) + "\nvars currentEpoch 9 lastVoteEpoch 0\n")

    @classmethod
    def start_nodes(cls, nodes):
        """Starts nodes that divide the slots, and waits until they serve."""
        cls.write_files(nodes)
        for node in nodes:
            node.start()
        for node in nodes:
            cls.await_that(node.is_up, node.server.log())
        return nodes

    @staticmethod
    def await_that(holds, what):
        assert eventually(holds), what


def run_cli(*words, answers="", options=()):
    """Runs redis-cli --cluster. Returns its exit code and output."""
    end = subprocess.run(["redis-cli", *options, "--cluster", *map(str, words)], input=answers,
                         capture_output=True, text=True, timeout=300)
    return end.returncode, end.stdout + end.stderr


class BusTest(unittest.TestCase):
    """Tests on a cluster that redis-cli creates once for the whole class. PROGRAMS are those of the
    masters; REPLICAS those of a replica of each."""

    PROGRAMS = [ZSETD, ZSETD, ZSETD]
    REPLICAS = []
    TIMEOUT_MS = 1000
    CLI_OPTIONS = ()  # of redis-cli

    @classmethod
    def setUpClass(cls):
        cls.cluster = []
        for program in cls.PROGRAMS:
            cls.add_node(program)
        try:
            code, text = run_cli("create", *(node.address for node in cls.cluster),
                                 "--cluster-yes", options=cls.CLI_OPTIONS)
            assert code == 0, text
            assert "[OK] All nodes agree about slots configuration." in text, text
            assert "[OK] All 16384 slots covered." in text, text
            for master, program in zip(list(cls.cluster), cls.REPLICAS):
                cls.add_replica(master, program)
            cls.await_health()
        except BaseException:
            cls.tearDownClass()
            raise

    @classmethod
    def tearDownClass(cls):
        problems = [node.stop() for node in cls.cluster if node.server is not None]
        for node in cls.cluster:
            node.folder.cleanup()
        assert not any(problems), problems

    @classmethod
    def add_node(cls, program):
        """Starts a node that is alone."""
        node = Node(len(cls.cluster) + 1, free_node_port(), program)
        cls.cluster.append(node)
        cls.start_node(node)
        return node

    @classmethod
    def add_replica(cls, master, program):
        node = cls.add_node(program)
        assert node.command("CLUSTER", "MEET", "127.0.0.1", master.base_port) == "OK"
        cls.await_that(lambda: "master" in node.view().get(master.id, [()])[0] and
                       node.id in master.view())
        node.command("CLUSTER", "REPLICATE", master.id)
        return node

    @classmethod
    def start_node(cls, node, *options):
        node.start(None, "--cluster-node-timeout", str(cls.TIMEOUT_MS), "--repl-diskless-sync-delay",
                   "0", *cls.options_of(node), *options)
        node.id = node.my_id()

    @classmethod
    def options_of(cls, node):
        """Returns further options of a node that starts."""
        return ()

    def cli(self, *words, answers=""):
        code, text = run_cli(*words, answers=answers, options=self.CLI_OPTIONS)
        self.assertEqual(code, 0, text)
        return text

    @classmethod
    def running(cls):
        return [node for node in cls.cluster if node.is_running()]

    @classmethod
    def await_that(cls, holds, what=""):
        assert eventually(holds), what or cls.logs()

    @classmethod
    def logs(cls):
        return "\n".join(f"--- {node.port} {node.program}\n{node.server.log()[-3000:]}\n" +
                         (node.command("CLUSTER", "NODES") if node.is_running() else "")
                         for node in cls.cluster if node.server)

    @classmethod
    def await_health(cls):
        """Waits until all nodes agree that all work, and replicas have their masters' data."""
        def is_healthy():
            views = [node.view() for node in cls.running()]
            shapes = [{id: (flags - {"myself"}, master, slots)
                       for id, (flags, master, link, slots) in view.items()} for view in views]
            return (all(shape == shapes[0] for shape in shapes) and
                    all(not flags & {"fail", "fail?", "handshake"}
                        for flags, *_ in shapes[0].values()) and
                    all(node.is_up() for node in cls.running()) and
                    all(node.client.info("replication").get("master_link_status", "up") == "up"
                        for node in cls.running()))

        def is_healthy_and_loaded():
            try:
                return is_healthy()
            except redis.BusyLoadingError:
                return False
        cls.await_that(is_healthy_and_loaded)

    @classmethod
    def master_of(cls, slot):
        """Returns the running node that serves the slot by its own view."""
        for node in cls.running():
            if node.role() != "master":
                continue
            for words in node.view()[node.id][3]:
                bounds = re.fullmatch(r"(\d+)(?:-(\d+))?", words)
                if bounds and int(bounds[1]) <= slot <= int(bounds[2] or bounds[1]):
                    return node
        return None

    @classmethod
    def replicas_of(cls, master):
        return [node for node in cls.running() if node.view()[node.id][1] == master.id]
