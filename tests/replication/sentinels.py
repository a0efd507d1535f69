"""Three Sentinels that monitor a master and its replicas, which may be of either program."""

import pathlib
import tempfile

import redis

from server_process import ServerProcess, eventually, free_port
from servers import PATIENCE_S, REDIS, ReplicationTest

NAME = "group"
SETTINGS = """\
port {port}
dir {folder}
sentinel monitor {name} 127.0.0.1 {master} 2
sentinel down-after-milliseconds {name} 1000
sentinel failover-timeout {name} 6000
sentinel parallel-syncs {name} 2
"""


class Sentinel:
    """redis-server in Sentinel mode, which stores its state in its configuration file."""

    def __init__(self, folder, master_port):
        port = free_port()
        path = pathlib.Path(folder, f"sentinel-{port}.conf")
        path.write_text(SETTINGS.format(port=port, folder=folder, name=NAME, master=master_port))
        self.process = ServerProcess(REDIS, "--sentinel", config=str(path), port=port)
        self.client = redis.Redis(port=self.process.port, socket_timeout=PATIENCE_S)

    def ask(self, *words):
        return self.client.execute_command("SENTINEL", *words)

    def master_port(self):
        return int(self.ask("GET-MASTER-ADDR-BY-NAME", NAME)[1])

    def state(self):
        """Returns its view of the master: flags, and the numbers of replicas and other
        Sentinels."""
        words = self.ask("MASTER", NAME)
        if isinstance(words, dict):
            return words
        words = [word.decode() for word in words]
        return dict(zip(words[::2], words[1::2], strict=True))

    def replicas(self):
        return self.ask("REPLICAS", NAME)

    def log(self):
        return self.process.log()

    def stop(self):
        self.client.close()
        return self.process.stop()


class SentinelTest(ReplicationTest):
    def start_group(self, *programs):
        """A master and replicas of these programs, monitored by three Sentinels."""
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.servers = {}
        for program in programs:
            master = next(iter(self.servers.values()), None)
            follows = ("--replicaof", f"127.0.0.1 {master.port}") if master else ()
            server = self.start(program, *self.options(), *follows)
            self.servers[server.port] = server
        for replica in list(self.servers.values())[1:]:
            self.await_link(replica)
        master_port = next(iter(self.servers))
        self.sentinels = [Sentinel(folder.name, master_port) for _ in range(3)]
        for sentinel in self.sentinels:
            self.addCleanup(lambda each=sentinel: self.assertIsNone(each.stop()))
        self.await_all_known(len(programs) - 1)

    def options(self):
        return ()

    def await_all_known(self, replicas):
        """Waits until every Sentinel knows the others and all replicas, and sees them all alive."""
        for sentinel in self.sentinels:
            self.await_that(lambda each=sentinel: self.knows_all(each, replicas),
                            lambda each=sentinel: f"{each.state()}\n{each.log()[-3000:]}")

    @staticmethod
    def knows_all(sentinel, replicas):
        state = sentinel.state()
        return (state["flags"] == "master" and int(state["num-slaves"]) == replicas
                and int(state["num-other-sentinels"]) == 2)

    def master(self):
        return self.servers[self.sentinels[0].master_port()]

    def replace(self, dead):
        """Restarts a killed server with an empty dataset."""
        server = self.start(dead.program, *self.options(), port=dead.port)
        self.servers[server.port] = server
        return server

    def report(self):
        """Returns details for a failed test: the state of each server and the logs of the
        Sentinels."""
        beliefs = [f"{server.port}: {server.info() if not server.ended() else 'has ended'}"
                   for server in self.servers.values()]
        return "\n".join([*beliefs, *(each.log()[-2000:] for each in self.sentinels)])

    def await_failover(self, old):
        """Waits until all Sentinels have agreed on another master, and it has that role."""
        def is_over():
            ports = {sentinel.master_port() for sentinel in self.sentinels}
            if len(ports) != 1 or old.port in ports:
                return False
            return self.servers[ports.pop()].info()["role"] == "master"

        self.await_that(is_over, self.report, patience_s=120)
        return self.master()
