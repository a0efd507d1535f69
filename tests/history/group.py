"""Three nodes with the same data, and a proxy in front of each. Three Sentinels decide about their
failovers (SentinelGroup), or the masters of a cluster, of which the nodes are one shard
(ClusterGroup). Tests see both through Group.
"""

import os
import pathlib
import signal
import struct
import subprocess
import tempfile
import time

import redis

from network import CLIENT, SENTINEL_ADDRESS, Network
from server_process import ServerProcess, eventually, free_port

NAME = "group"
SETTLE_S = 60  # after a fault, on a busy machine
DISK_MB = 64
CLOCK = os.environ.get("SHIFTED_CLOCK", "")

# Replicas keep a log, so that a restart does not lose what they have acknowledged. A master that is
# cut off accepts writes for two seconds.
NODE_SETTINGS = """\
appendonly yes
appendfsync everysec
min-replicas-to-write 1
min-replicas-max-lag 2
repl-timeout 4
repl-ping-replica-period 1
repl-diskless-sync-delay 0
dir {folder}
replica-announce-ip 127.0.0.1
replica-announce-port {announced}
"""
CLUSTER_SETTINGS = """\
cluster-enabled yes
cluster-node-timeout 1000
cluster-allow-replica-migration no
cluster-port {bus_port}
cluster-announce-ip 127.0.0.1
cluster-announce-port {announced}
cluster-announce-bus-port {announced_bus_port}
"""
SENTINEL_SETTINGS = """\
port {port}
dir {folder}
bind-source-addr {address}
sentinel announce-ip 127.0.0.1
sentinel monitor {name} 127.0.0.1 {master} 2
sentinel down-after-milliseconds {name} 800
sentinel failover-timeout {name} 3000
sentinel parallel-syncs {name} 2
"""
SENTINEL_PERIODS_MS = {"PUBLISH-PERIOD": 100, "INFO-PERIOD": 200, "PING-PERIOD": 100, "ASK-PERIOD": 100,
                       "MIN-LINK-RECONNECT-PERIOD": 500, "SLAVE-RECONF-TIMEOUT": 2000,
                       "ELECTION-TIMEOUT": 3000}


class Node:
    """A server with a folder of its own. It keeps its folder, port and configuration when it
    restarts, and so its role and its data. start() starts it for the first time, too."""

    def __init__(self, name, program, folder, network):
        self.name = name
        self.program = program
        self.folder = pathlib.Path(folder, name)
        self.folder.mkdir()
        self.has_own_disk = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "none", str(self.folder)],
            capture_output=True).returncode == 0
        self.port = free_port()
        self.proxy_port = network.add(name, self.port)
        self.settings = pathlib.Path(folder, f"{name}.conf")
        self.settings.write_text(NODE_SETTINGS.format(folder=self.folder, announced=self.proxy_port))
        self.process = None
        self.clock = pathlib.Path(folder, f"{name}.clock")
        self.shift_clock(0)

    def add_settings(self, text):
        with self.settings.open("a") as file:
            file.write(text)

    def start(self):
        environment = {"LD_PRELOAD": CLOCK, "CLOCK_SHIFT": str(self.clock)} if CLOCK else {}
        # The log is on the command line, because that of the tests' own options would apply otherwise.
        start = lambda: ServerProcess(self.program, "--appendonly", "yes", config=str(self.settings),
                                      port=self.port, environment=environment)
        try:
            self.process = start()
        except RuntimeError:
            if not self._repair_log():
                raise
            self.process = start()
        self.client = redis.Redis(port=self.port, socket_timeout=20)

    def _repair_log(self):
        """Repairs the log as redis-server's error message advises. zsetd must never need this."""
        if not self._is_redis_server():
            return False
        manifest = self.folder / "appendonlydir" / "appendonly.aof.manifest"
        repair = ["redis-check-aof", "--fix", str(manifest)]
        return subprocess.run(repair, input=b"y\n", capture_output=True).returncode == 0

    def _is_redis_server(self):
        return pathlib.Path(self.program).name == "redis-server"

    def kill(self):
        self.process.expected_exit_code = -signal.SIGKILL
        self.process.kill()
        self._end()

    def restart(self):
        """Ends the server by SIGTERM, and starts it again. redis-server refuses to end while it begins a log."""
        if self._is_redis_server():
            eventually(lambda: self.process.ended() or self.process.ask_to_leave())
        self._end()
        self.start()

    def suspend(self):
        self.process.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.process.send_signal(signal.SIGCONT)

    def shift_clock(self, seconds):
        """Changes the file in place, because the server has mapped it."""
        with self.clock.open("r+b" if self.clock.exists() else "wb") as file:
            file.write(struct.pack("q", seconds))

    def fill_disk(self):
        free = os.statvfs(self.folder)
        try:
            (self.folder / "ballast").write_bytes(bytes(free.f_bavail * free.f_frsize))
        except OSError:
            pass  # the server was faster; the disk is full nevertheless

    def empty_disk(self):
        (self.folder / "ballast").unlink()

    def is_running(self):
        return not self.process.ended()

    def info(self):
        return self.client.info("replication")

    def close(self):
        self._end(requires_end=False)
        if self.has_own_disk:
            subprocess.run(["umount", "-l", str(self.folder)], check=True)

    def _end(self, requires_end=True):
        if self.process is None:
            return
        self.client.close()
        problem = self.process.stop()
        if problem and requires_end:
            raise AssertionError(problem)


class Group:
    """Nodes, and the rules of their network. `master()` is the node that takes writes."""

    KEY_PREFIX = ""

    def __init__(self, folder):
        self.folder = folder
        self.network = Network()
        self.nodes = []
        self.disagreements = 0  # of the observers, which they did not end by themselves
        self.unexpected_ends = []  # the logs of nodes that have ended by themselves

    def names(self):
        return {node.name for node in self.nodes}

    def parties(self):
        """Returns all parties of the network except the clients."""
        return self.names()

    def others(self, node):
        return self.parties() - {node.name}

    def replicas(self):
        master = self.master()
        return [node for node in self.nodes if node is not master]

    def master(self):
        raise NotImplementedError

    def is_settled(self):
        """Returns whether there is one master, which all nodes follow and all observers agree on."""
        raise NotImplementedError

    def fail_over(self):
        """Requests a failover without a failure."""
        raise NotImplementedError

    def await_settled(self):
        def is_settled():
            time.sleep(0.05)  # leaves time to the proxies, which run in this process
            self.restart_ended()
            return self.is_settled()

        if eventually(is_settled, SETTLE_S):
            return
        if not self.reunite_observers() or not eventually(is_settled, SETTLE_S):
            raise AssertionError(f"the group does not recover\n{self.report()}")

    def reunite_observers(self):
        """Does what an operator does if observers disagree permanently. Returns whether they disagreed."""
        return False

    def all_nodes(self):
        """Returns the nodes, and those that only decide about failovers."""
        return self.nodes

    def restart_ended(self):
        """Restarts nodes that have ended by themselves: redis-server does so if its disk is full."""
        for node in self.all_nodes():
            if not node.is_running():
                self.unexpected_ends.append(node.process.log()[-2000:])
                node.process.stop()
                node.start()

    def report(self):
        return "\n".join(f"{node.name} {node.proxy_port} -> {node.port}: "
                         f"{self._try(node.info)}\n{node.process.log()[-2500:]}" for node in self.all_nodes())

    @staticmethod
    def _try(ask):
        try:
            return ask()
        except redis.RedisError as error:
            return error

    def close(self):
        self.network.close()
        for node in self.all_nodes():
            node.close()


class SentinelGroup(Group):
    def __init__(self, program, folder):
        super().__init__(folder)
        for number in range(3):
            node = Node(f"node{number}", program, folder, self.network)
            if self.nodes:
                node.add_settings(f"replicaof 127.0.0.1 {self.nodes[0].proxy_port}\n")
            node.start()
            self.nodes.append(node)
        eventually(lambda: self.nodes[0].info()["connected_slaves"] == 2)
        self.sentinels = [self._start_sentinel(number) for number in (1, 2, 3)]
        for sentinel in self.sentinels:
            for name, period_ms in SENTINEL_PERIODS_MS.items():
                sentinel.client.execute_command("SENTINEL", "DEBUG", name, period_ms)
        self.await_settled()

    def parties(self):
        return self.names() | {f"sentinel{number}" for number in (1, 2, 3)}

    def _start_sentinel(self, number):
        port = free_port()
        path = pathlib.Path(self.folder, f"sentinel{number}.conf")
        path.write_text(SENTINEL_SETTINGS.format(
            port=port, folder=self.folder, address=f"{SENTINEL_ADDRESS}{number}", name=NAME,
            master=self.nodes[0].proxy_port))
        sentinel = ServerProcess("redis-server", "--sentinel", config=str(path), port=port)
        sentinel.client = redis.Redis(port=sentinel.port, socket_timeout=20)
        return sentinel

    def master(self):
        port = self._master_port(self.sentinels[0])
        return next(node for node in self.nodes if node.proxy_port == port)

    @staticmethod
    def _master_port(sentinel):
        return int(sentinel.client.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME)[1])

    def is_settled(self):
        if len({self._master_port(sentinel) for sentinel in self.sentinels}) != 1:
            return False
        try:
            return self._follow(self.master()) and all(map(self._sees_all, self.sentinels))
        except redis.RedisError:
            return False

    def _follow(self, master):
        if master.info()["role"] != "master":
            return False
        infos = [node.info() for node in self.nodes if node is not master]
        return all(info["role"] == "slave" and info["master_port"] == master.proxy_port
                   and info["master_link_status"] == "up" for info in infos)

    @staticmethod
    def _sees_all(sentinel):
        state = sentinel.client.sentinel_master(NAME)
        if state["flags"] != "master" or state["num-other-sentinels"] != 2:
            return False
        replicas = sentinel.client.sentinel_slaves(NAME)
        return len(replicas) == 2 and all(replica["flags"] == "slave" for replica in replicas)

    def fail_over(self):
        try:
            self.sentinels[0].client.execute_command("SENTINEL", "FAILOVER", NAME)
        except redis.ResponseError:
            pass  # NOGOODSLAVE, or one is in progress

    def reunite_observers(self):
        """A Sentinel that ends its failover after another one has promoted the same node again keeps the
        epoch of the later failover with the master of its own. Then no message of the others convinces it,
        because the epochs are equal. The next failover has a higher epoch."""
        ports = [self._master_port(sentinel) for sentinel in self.sentinels]
        if len(set(ports)) == 1:
            return False
        self.disagreements += 1
        of_majority = self.sentinels[ports.index(max(ports, key=ports.count))]
        of_majority.client.execute_command("SENTINEL", "FAILOVER", NAME)
        return True

    def report(self):
        subscribers = (f"{node.name}: {self._try(lambda: node.client.client_list(_type='pubsub'))}"
                       for node in self.nodes)
        views = (f"{self._try(lambda: each.client.sentinel_master(NAME))}\n{each.log()[-2000:]}"
                 for each in self.sentinels)
        return "\n".join([super().report(), *subscribers, *views])

    def close(self):
        for sentinel in self.sentinels:
            sentinel.client.close()
            sentinel.stop()
        super().close()


class ClusterGroup(Group):
    """A cluster of three masters. The nodes are the shard with the keys: a master and two replicas.
    The other two masters have a slot each; with the shard's master they decide about failovers."""

    KEY_PREFIX = "{group}"
    SLOTS = ("0-16381", "16382", "16383")  # of the shard, and of the other masters

    def __init__(self, program, folder):
        super().__init__(folder)
        self.nodes = [Node(f"node{number}", program, folder, self.network) for number in range(3)]
        self.voters = [Node(f"voter{number}", program, folder, self.network) for number in (1, 2)]
        for number, node in enumerate(self.all_nodes()):
            node.id = f"{number + 1}" * 40
            node.bus_port = free_port()
            node.bus_proxy_port = self.network.add(node.name, node.bus_port)
            self.network.set_bus_id(node.name, node.id)
            node.add_settings(CLUSTER_SETTINGS.format(
                bus_port=node.bus_port, announced=node.proxy_port, announced_bus_port=node.bus_proxy_port))
        for node in self.all_nodes():
            (node.folder / "nodes.conf").write_text(self._nodes_text(node))
            node.start()
        for voter in self.voters:
            voter.client.config_set("min-replicas-to-write", 0)
        self.await_settled()

    def all_nodes(self):
        return self.nodes + self.voters

    def parties(self):
        return {node.name for node in self.all_nodes()}

    def _nodes_text(self, own):
        lines = []
        masters = [self.nodes[0], *self.voters]
        for node in self.all_nodes():
            is_master = node in masters
            flags = ("myself," if node is own else "") + ("master" if is_master else "slave")
            epoch = masters.index(node) + 1 if is_master else 1
            slots = " " + self.SLOTS[masters.index(node)] if is_master else ""
            lines.append(f"{node.id} 127.0.0.1:{node.proxy_port}@{node.bus_proxy_port} {flags} "
                         f"{'-' if is_master else masters[0].id} 0 0 {epoch} connected{slots}\n")
        return "".join(lines) + "vars currentEpoch 3 lastVoteEpoch 0\n"

    @staticmethod
    def view(observer):
        """Returns the nodes as one sees them: ID -> (flags, master's ID, slots)."""
        lines = [line.split(" ") for line in
                 observer.client.execute_command("CLUSTER", "NODES").decode().splitlines()]
        return {words[0]: (frozenset(words[2].split(",")) - {"myself"}, words[3], tuple(words[8:]))
                for words in lines}

    def master(self):
        return self._master_as_seen_by(self.voters[0])

    def _master_as_seen_by(self, observer):
        owners = [id for id, (_, _, slots) in self.view(observer).items() if slots[:1] == self.SLOTS[:1]]
        return next((node for node in self.nodes if [node.id] == owners), None)

    def is_settled(self):
        try:
            views = [self.view(node) for node in self.all_nodes()]
            are_up = all(b"cluster_state:ok" in node.client.execute_command("CLUSTER", "INFO")
                         for node in self.all_nodes())
            master = self.master()
            return (are_up and master is not None and all(view == views[0] for view in views) and
                    not any(flags & {"fail", "fail?"} for flags, *_ in views[0].values()) and
                    master.info()["role"] == "master" and all(
                        node.info()["role"] == "slave" and node.info()["master_port"] == master.proxy_port and
                        node.info()["master_link_status"] == "up" for node in self.nodes if node is not master))
        except redis.RedisError:
            return False

    def fail_over(self):
        try:
            self.replicas()[0].client.execute_command("CLUSTER", "FAILOVER")
        except redis.ResponseError:
            pass  # one is in progress


__all__ = ["CLIENT", "ClusterGroup", "Group", "Node", "SentinelGroup"]
