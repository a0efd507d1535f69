"""The example of docs/high-availability.md: three servers and three Sentinels with passwords, without and
with TLS. They find each other, and replace a master that has failed."""

import pathlib
import re
import tempfile

import redis

from certificates import Certificates
from server_process import ServerProcess, free_port
from servers import PATIENCE_S, REDIS, ZSETD, ReplicationTest

PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs/high-availability.md").read_text()
BLOCKS = {name: text for name, text in
          re.findall(r"^```conf\n# (.*)\n([\s\S]*?)^```$", PAGE, re.MULTILINE)}
SERVER = BLOCKS["/etc/zsetd/zsetd.conf"]
SENTINEL = BLOCKS["/etc/redis/sentinel.conf"]
SERVER_TLS = BLOCKS["zsetd.conf, in addition"]
SENTINEL_TLS = BLOCKS["sentinel.conf, in addition"]
DOWN_AFTER = ("board 5000", "board 1000")  # a shorter wait


def without_port(text):
    return re.sub(r"^port .*\n", "", text, flags=re.MULTILINE)


class SentinelPage(ReplicationTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start_example(self, tls):
        """Starts the servers and the Sentinels of the page on this machine. With TLS each has a second
        port, on which the test watches it."""
        self.tls_ports = [free_port() for _ in range(6)] if tls else None
        if tls:
            authority = Certificates(self.folder)
            authority.make("server")
        self.servers = []
        for number in range(3):
            text = SERVER if number else re.sub(r"replicaof .*\n", "", SERVER)
            self.servers.append(self.start_one(ZSETD, text, SERVER_TLS, number))
        self.sentinels = [self.start_one(REDIS, SENTINEL, SENTINEL_TLS, number, "--sentinel")
                          for number in range(3, 6)]

    def start_one(self, program, text, tls, number, *options):
        port = free_port()
        if self.tls_ports:
            text += re.sub(r"tls-port .*", f"tls-port {self.tls_ports[number]}", tls)
        text = re.sub(r"/etc/\w+/((?:server|ca)\.\w+)", rf"{self.folder}/\1", without_port(text))
        text = text.replace("0.0.0.0", "127.0.0.1").replace(*DOWN_AFTER)
        text = text.replace("10.0.0.11 6379", f"127.0.0.1 {self.master_port()}")
        file = self.folder / f"{number}.conf"
        file.write_text(text)
        server = ServerProcess(program, *options, config=str(file), port=port)
        self.addCleanup(self.stop, server)
        return server

    def master_port(self):
        """The port of the first server on which the others reach it."""
        if self.tls_ports:
            return self.tls_ports[0]
        return self.servers[0].port if self.servers else 0

    def stop(self, server):
        server.expected_exit_code = server.process.poll() or 0
        server.stop()

    def ask(self, server, password, *words):
        with redis.Redis(port=server.port, password=password, socket_timeout=PATIENCE_S) as client:
            return client.execute_command(*words)

    def view(self, sentinel):
        words = self.ask(sentinel, "watch", "SENTINEL", "MASTER", "board")
        words = words if isinstance(words, dict) else dict(zip(words[::2], words[1::2]))
        return {text(name): text(value) for name, value in words.items()}

    def knows_all(self, sentinel):
        view = self.view(sentinel)
        return (view["flags"] in ("master", {"master"}) and int(view["num-slaves"]) == 2
                and int(view["num-other-sentinels"]) == 2)

    def check(self, tls):
        self.start_example(tls)
        for sentinel in self.sentinels:
            self.await_that(lambda each=sentinel: self.knows_all(each),
                            lambda each=sentinel: str(self.view(each)))
        quorum = self.ask(self.sentinels[0], "watch", "SENTINEL", "CKQUORUM", "board")
        self.assertIn("OK 3 usable Sentinels", text(quorum))
        old = self.master_port()
        self.servers[0].kill()
        ports = self.tls_ports[:3] if tls else [server.port for server in self.servers]
        self.await_that(lambda: int(self.view(self.sentinels[0])["port"]) in set(ports) - {old},
                        lambda: self.sentinels[0].log()[-3000:], patience_s=120)
        promoted = self.servers[ports.index(int(self.view(self.sentinels[0])["port"]))]
        self.await_that(lambda: text(self.ask(promoted, "secret", "ROLE")[0]) == "master", promoted.log)

    def test_without_tls(self):
        self.check(tls=False)

    def test_with_tls(self):
        self.check(tls=True)


def text(value):
    return value.decode() if isinstance(value, bytes) else value
