"""Clusters under measurement: nodes of one program on this machine, each in a separate folder."""

import contextlib
import random
import re
import shutil
import socket
import subprocess
import tempfile
import time

import redis
from redis.crc import key_slot

from versus_lib import servers

_BUS_DISTANCE = 10000
_PATIENCE_S = 60


def tags_of(slots):
    """Returns a hash tag for each slot."""
    missing = set(slots)
    found = {}
    number = 0
    while missing:
        slot = key_slot(b"%x" % number)
        if slot in missing:
            found[slot] = f"{number:x}"
            missing.remove(slot)
        number += 1
    return found


def await_that(holds, what):
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        with contextlib.suppress(redis.RedisError):
            if holds():
                return
        time.sleep(0.05)
    raise RuntimeError(f"after {_PATIENCE_S} s: {what}")


def run_cli(*words):
    """Runs redis-cli --cluster, and returns its output."""
    end = subprocess.run(["redis-cli", "--cluster", *map(str, words)], stdin=subprocess.DEVNULL,
                         capture_output=True, text=True, check=False)
    if end.returncode != 0:
        raise RuntimeError(f"redis-cli --cluster {words[0]}: {end.stdout[-1000:]}{end.stderr}")
    return end.stdout


def _free_port():
    """Returns a port that is free, with the port of its bus, below those of outgoing connections."""
    while True:
        port = random.randrange(12000, 20000)
        with socket.socket() as client, socket.socket() as bus:
            if (client.connect_ex(("127.0.0.1", port)) != 0 and
                    bus.connect_ex(("127.0.0.1", port + _BUS_DISTANCE)) != 0):
                return port


class Node:
    """A node, which keeps nodes.conf on the disk, but no data."""

    def __init__(self, program, options=()):
        self.port = _free_port()
        self.address = f"127.0.0.1:{self.port}"
        self._folder = tempfile.TemporaryDirectory(prefix="cluster-", ignore_cleanup_errors=True)
        self._command = [shutil.which(program), "--port", str(self.port), "--dir", self._folder.name, "--save", "",
                         "--appendonly", "no", "--cluster-enabled", "yes", *options]
        self.client = redis.Redis(port=self.port, decode_responses=True, socket_timeout=10)
        self.start()
        self.id = self.client.execute_command("CLUSTER", "MYID")

    def start(self):
        """Starts the node, also again after it was killed."""
        self._process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", *self._command],
                                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self._server = servers.Server(self.port, self._process)
        await_that(self.client.ping, f"{self._command[0]} does not answer")

    def kill(self):
        self._process.kill()
        self._process.wait()

    def cpu_seconds(self):
        return self._server.cpu_seconds()

    def is_up(self):
        return "cluster_state:ok" in self.client.execute_command("CLUSTER", "INFO")

    def owners(self):
        """Returns (first slot, last slot, owner's ID) for each range, as this node knows them."""
        return sorted((first, last, owner[2])
                      for first, last, owner, *_ in self.client.execute_command("CLUSTER", "SLOTS"))

    def flags(self):
        """Returns the flags of each node, as this one knows it, by ID."""
        lines = (line.split(" ") for line in self.client.execute_command("CLUSTER", "NODES").splitlines())
        return {words[0]: set(words[2].split(",")) for words in lines}

    def end(self):
        self.client.close()
        self.kill()
        self._folder.cleanup()


class Cluster:
    """Masters of one program, which divide the slots in equal parts."""

    def __init__(self, program, masters, options=()):
        self._new_node = lambda: Node(program, options)
        self.nodes = []
        try:
            for _ in range(masters):
                self.nodes.append(self._new_node())
            run_cli("create", *(node.address for node in self.nodes), "--cluster-yes")
            self.await_agreement()
        except BaseException:
            self.end()
            raise

    def add_replica(self, master):
        """Adds a replica, which has the master's data when this returns."""
        replica = self._new_node()
        self.nodes.append(replica)
        replica.client.execute_command("CLUSTER", "MEET", "127.0.0.1", master.port)
        await_that(lambda: master.id in replica.flags() and replica.id in master.flags(), "the nodes do not meet")
        await_that(lambda: replica.client.execute_command("CLUSTER", "REPLICATE", master.id),
                   "a node does not become a replica")
        await_that(lambda: replica.client.info("replication")["master_link_status"] == "up",
                   "a replica does not receive the data")
        return replica

    def await_agreement(self):
        """Waits until all nodes serve and have the same view of the slots."""
        def agree():
            owners = [node.owners() for node in self.nodes]
            return all(node.is_up() for node in self.nodes) and all(each == owners[0] for each in owners)
        await_that(agree, "the nodes do not agree")

    def cpu_seconds(self):
        return sum(node.cpu_seconds() for node in self.nodes)

    def keys(self):
        return sum(node.client.dbsize() for node in self.nodes)

    def end(self):
        for node in self.nodes:
            node.end()


class RoutedClient:
    """A client that follows redirections, and keeps their effect like other clients of clusters. It sends one
    request at a time."""

    def __init__(self, cluster):
        self._clients = {}
        self._first = cluster.nodes[0].port
        self._owners = {}  # slot -> port
        self.redirections = 0

    def _client(self, port):
        if port not in self._clients:
            self._clients[port] = redis.Redis(port=port, decode_responses=True, single_connection_client=True)
        return self._clients[port]

    def execute(self, command, key, *words):
        slot = key_slot(key.encode())
        port = self._owners.get(slot, self._first)
        asks = False
        while True:
            client = self._client(port)
            if asks:
                client.execute_command("ASKING")
            try:
                return client.execute_command(command, key, *words)
            except redis.ResponseError as error:
                redirection = re.match(r"(MOVED|ASK) \d+ 127\.0\.0\.1:(\d+)", str(error))
                if not redirection:
                    raise
                asks = redirection[1] == "ASK"
                port = int(redirection[2])
                self.redirections += 1
                if not asks:
                    self._owners[slot] = port

    def end(self):
        for client in self._clients.values():
            client.close()
