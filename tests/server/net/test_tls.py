"""TLS: which clients are accepted, and certificates that are replaced at run time."""

import hashlib
import hmac
import os
import pathlib
import shutil
import socket
import ssl
import struct
import subprocess
import tempfile
import time
import unittest

import redis
from certificates import Certificates
from peer import request
from server_process import eventually, free_port
from zsetd import PROGRAM, SANITIZED, ZsetdTest


class Renegotiator:
    """A client of TLS 1.2 that makes its own records after the handshake. The cipher only
    authenticates, so that HMAC is enough."""

    CIPHER = "ECDHE-ECDSA-NULL-SHA:@SECLEVEL=0"

    def __init__(self, port, folder):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.connect(("127.0.0.1", port))
        secrets = pathlib.Path(folder, "secrets")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers(self.CIPHER)
        context.keylog_filename = str(secrets)
        received = self._shake_hands(context)
        _, client_random, master = secrets.read_text().splitlines()[-1].split()
        server_random = received[11:43]  # after the headers of the record and of the ServerHello
        seed = b"key expansion" + server_random + bytes.fromhex(client_random)
        sign = lambda text: hmac.digest(bytes.fromhex(master), text, hashlib.sha256)
        self._key = sign(sign(seed) + seed)[:20]  # RFC 5246, 5 and 6.3
        self._number = 1  # the Finished message was record 0

    def _shake_hands(self, context):
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        secret, received = context.wrap_bio(incoming, outgoing), b""
        while True:
            try:
                secret.do_handshake()
                return received
            except ssl.SSLWantReadError:
                self.socket.sendall(outgoing.read())
                received += (some := self.socket.recv(65536))
                incoming.write(some)

    def record(self):
        """Returns the next record: an empty ClientHello, which requests a renegotiation."""
        hello = b"\x01\x00\x00\x00"
        header = b"\x16\x03\x03" + struct.pack(">H", len(hello))
        code = hmac.digest(self._key, struct.pack(">Q", self._number) + header + hello, hashlib.sha1)
        self._number += 1
        return b"\x16\x03\x03" + struct.pack(">H", len(hello) + len(code)) + hello + code


class Tls(ZsetdTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.certificates = Certificates(folder.name)
        cls.server_files = cls.certificates.make("server")
        cls.client_files = cls.certificates.make("client")

    def start_tls(self, *options):
        """Starts a server with a TLS port, which requests no certificate from clients."""
        certificate, key = self.server_files
        self.tls_port = free_port()
        self.start("--tls-port", str(self.tls_port), "--tls-cert-file", certificate,
                   "--tls-key-file", key, "--tls-ca-cert-file", self.certificates.authority,
                   "--tls-auth-clients", "no", *options)
        self.assertTrue(eventually(self.listens))

    def listens(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.tls_port)) == 0

    def client(self, files=(None, None), **options):
        client = redis.Redis(port=self.tls_port, host="127.0.0.1", ssl=True, ssl_certfile=files[0],
                             ssl_keyfile=files[1], ssl_ca_certs=self.certificates.authority,
                             ssl_cert_reqs="required", **options)
        self.addCleanup(client.close)
        return client

    def context(self, files=None):
        context = ssl.create_default_context(cafile=self.certificates.authority)
        if files:
            context.load_cert_chain(*files)
        return context

    def handshake(self, context):
        raw = socket.create_connection(("127.0.0.1", self.tls_port), timeout=20)
        self.addCleanup(raw.close)
        secret = context.wrap_socket(raw, server_hostname="127.0.0.1", suppress_ragged_eofs=False)
        self.addCleanup(secret.close)
        return secret

    def subject(self):
        """Returns the subject of the certificate that the server currently presents."""
        names = self.handshake(self.context()).getpeercert()["subject"]
        return dict(pair for name in names for pair in name)["commonName"]

    def assert_turned_away(self, files=None):
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            secret = self.handshake(self.context(files))
            secret.sendall(request("PING"))
            if not secret.recv(100):
                raise ConnectionResetError

    def test_client_that_never_speaks_is_closed_after_ten_seconds(self):
        self.start_tls()
        mute = socket.create_connection(("127.0.0.1", self.tls_port), timeout=20)
        self.addCleanup(mute.close)
        slow = self.client()
        self.assertTrue(slow.ping())
        start = time.monotonic()
        self.assertEqual(mute.recv(1), b"")
        self.assertGreater(time.monotonic() - start, 8)
        self.assertTrue(slow.ping(), "a client whose handshake is complete stays")

    @unittest.skipIf(SANITIZED, "memory is counted in another way")
    def test_a_client_that_leaves_before_its_handshake_leaves_no_memory_behind(self):
        self.start_tls()
        admin = self.connect()
        used = lambda: int(admin.ask("INFO", "memory").split(b"used_memory:")[1].split(b"\r\n")[0])
        alone = lambda: b"connected_clients:1\r" in admin.ask("INFO", "clients")
        self.assertTrue(eventually(alone))
        before, count = used(), 5000
        for _ in range(count):
            with socket.create_connection(("127.0.0.1", self.tls_port), timeout=20) as raw:
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.assertTrue(eventually(alone))
        self.assertLess(used() - before, count * 500)

    def test_works_next_to_the_plain_port(self):
        self.start_tls()
        client = self.client()
        self.assertTrue(client.set("k", "v"))
        self.assertEqual(self.connect().ask("GET", "k"), b"v")
        self.assertIn(f":{self.tls_port}", client.client_info()["laddr"])

    def test_works_without_a_plain_port(self):
        certificate, key = self.server_files
        port = free_port()
        process = subprocess.Popen(
            [PROGRAM, "--port", "0", "--tls-port", str(port), "--tls-cert-file", certificate,
             "--tls-key-file", key, "--tls-auth-clients", "no", "--save", ""],
            stdout=subprocess.DEVNULL)
        self.tls_port = port
        try:
            self.assertTrue(eventually(self.answers))
        finally:
            process.terminate()
            self.assertEqual(process.wait(20), 0)

    def answers(self):
        try:
            return self.client().ping()
        except redis.ConnectionError:
            return False

    def test_carries_large_values_and_pipelines(self):
        self.start_tls()
        client = self.client()
        value = bytes(range(256)) * 40_000  # 10 MB
        client.set("large", value)
        self.assertEqual(client.get("large"), value)
        with client.pipeline(transaction=False) as pipe:
            for number in range(10_000):
                pipe.incr("n")
            self.assertEqual(pipe.execute(), list(range(1, 10_001)))

    def test_carries_messages_and_late_replies(self):
        self.start_tls()
        listener = self.client().pubsub()
        self.addCleanup(listener.close)
        listener.subscribe("ch")
        self.assertEqual(listener.get_message(timeout=20)["type"], "subscribe")
        waiter = self.handshake(self.context())
        waiter.sendall(request("BLPOP", "list", 0))
        other = self.connect()
        self.assertEqual(other.ask("PUBLISH", "ch", "hello"), 1)
        self.assertEqual(listener.get_message(timeout=20)["data"], b"hello")
        self.assertTrue(eventually(lambda: "blocked_clients:1" in other.ask("INFO").decode()))
        other.ask("RPUSH", "list", "x")
        self.assertEqual(waiter.recv(100), b"*2\r\n$4\r\nlist\r\n$1\r\nx\r\n")

    def test_accepts_requests_in_any_pieces(self):
        self.start_tls()
        secret = self.handshake(self.context())
        for byte in request("ECHO", "hello"):
            secret.sendall(bytes([byte]))
        self.assertEqual(secret.recv(100), b"$5\r\nhello\r\n")

    def test_ends_with_close_notify(self):
        self.start_tls()
        secret = self.handshake(self.context())
        secret.sendall(request("QUIT"))
        self.assertEqual(secret.recv(100), b"+OK\r\n")
        self.assertEqual(secret.recv(100), b"")  # a connection that is cut would raise

    def test_replies_to_close_notify(self):
        self.start_tls()
        secret = self.handshake(self.context())
        secret.sendall(request("ECHO", "last"))
        self.assertEqual(secret.recv(100), b"$4\r\nlast\r\n")
        secret.unwrap()

    def test_client_certificates_are_requested_as_the_setting_specifies(self):
        self.start_tls("--tls-auth-clients", "yes")
        stranger = Certificates(tempfile.mkdtemp(dir=self.certificates.folder)).make("stranger")
        self.assert_turned_away()
        self.assert_turned_away(stranger)
        self.assertTrue(self.client(self.client_files).ping())
        plain = self.connect()
        self.assertEqual(plain.ask("CONFIG", "SET", "tls-auth-clients", "optional"), b"OK")
        self.assertTrue(self.client().ping())
        self.assertTrue(self.client(self.client_files).ping())
        self.assert_turned_away(stranger)
        self.assertEqual(plain.ask("CONFIG", "SET", "tls-auth-clients", "no"), b"OK")
        self.assertTrue(self.client().ping())

    def test_settings_that_change_while_the_port_is_closed_apply_when_it_opens_again(self):
        self.start_tls()
        self.assertTrue(self.client().ping())
        plain = self.connect()
        certificate, key = self.certificates.make("reopened")
        for pairs in (["tls-port", 0], ["tls-auth-clients", "yes"],
                      ["tls-cert-file", certificate, "tls-key-file", key],
                      ["tls-port", self.tls_port]):
            self.assertEqual(plain.ask("CONFIG", "SET", *pairs), b"OK", pairs)
        self.assert_turned_away()
        self.assertTrue(self.client(self.client_files).ping())
        secret = self.handshake(self.context(self.client_files))
        self.assertIn((("commonName", "reopened"),), secret.getpeercert()["subject"])

    def test_a_change_that_is_refused_for_another_setting_changes_no_check_of_clients(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "appendonlydir").touch()  # so that the log cannot begin
            self.start_tls("--tls-auth-clients", "yes", "--dir", folder)
            plain = self.connect()
            certificate, key = self.certificates.make("refused")
            for pairs in (["tls-auth-clients", "no"], ["tls-cert-file", certificate, "tls-key-file", key],
                          ["tls-port", 0]):
                reply = plain.ask("CONFIG", "SET", *pairs, "appendonly", "yes")
                self.assertIsInstance(reply, RuntimeError, pairs)
                self.assert_turned_away()
                self.assertTrue(self.client(self.client_files).ping(), pairs)
                secret = self.handshake(self.context(self.client_files))
                self.assertIn((("commonName", "server"),), secret.getpeercert()["subject"])

    def test_a_refused_change_leaves_the_certificate_in_use_even_if_its_file_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "appendonlydir").touch()
            own = [shutil.copy(each, folder) for each in self.server_files]
            self.start_tls("--dir", folder, "--tls-cert-file", own[0], "--tls-key-file", own[1])
            plain = self.connect()
            os.remove(own[0])
            certificate, key = self.certificates.make("refused")
            reply = plain.ask("CONFIG", "SET", "tls-cert-file", certificate, "tls-key-file", key,
                              "appendonly", "yes")
            self.assertIsInstance(reply, RuntimeError)
            self.assertEqual(self.subject(), "server")

    def test_certificates_change_without_a_restart(self):
        self.start_tls()
        plain = self.connect()
        before = self.client()
        self.assertTrue(before.ping())
        self.assertEqual(self.subject(), "server")
        certificate, key = self.certificates.make("second")
        self.assertEqual(
            plain.ask("CONFIG", "SET", "tls-cert-file", certificate, "tls-key-file", key), b"OK")
        self.assertEqual(self.subject(), "second")
        self.assertTrue(before.ping())

    def test_files_are_reread_when_they_are_set_again(self):
        self.start_tls()
        plain = self.connect()
        certificate, key = self.certificates.make("third")
        own = self.certificates.path("own.crt"), self.certificates.path("own.key")
        for source, target in zip(self.server_files, own):
            shutil.copy(source, target)
        name = ["CONFIG", "SET", "tls-cert-file", own[0], "tls-key-file", own[1]]
        self.assertEqual(plain.ask(*name), b"OK")
        self.assertEqual(self.subject(), "server")
        for source, target in zip((certificate, key), own):
            shutil.copy(source, target)
        self.assertEqual(plain.ask(*name), b"OK")
        self.assertEqual(self.subject(), "third")

    def test_invalid_file_is_refused_and_the_old_one_stays(self):
        self.start_tls()
        plain = self.connect()
        other_key = self.certificates.make("other")[1]
        nothing = self.certificates.path("nothing")
        garbage = self.certificates.path("garbage")
        with open(garbage, "w", encoding="ascii") as file:
            file.write("no certificate")
        for name, value in [("tls-cert-file", nothing), ("tls-cert-file", garbage),
                            ("tls-key-file", other_key), ("tls-ciphers", "nonsense")]:
            answer = str(plain.ask("CONFIG", "SET", name, value))
            self.assertEqual(answer, f"ERR CONFIG SET failed (possibly related to argument '{name}')"
                             " - Unable to update TLS configuration. Check server logs.")
            self.assertNotEqual(plain.ask("CONFIG", "GET", name)[1], value.encode())
        self.assertIn("must be one of the following",
                      str(plain.ask("CONFIG", "SET", "tls-protocols", "SSLv2")))
        self.assertEqual(self.subject(), "server")

    def test_key_may_have_a_password(self):
        certificate, key = self.certificates.make("locked", password="open")
        self.start_tls("--tls-cert-file", certificate, "--tls-key-file", key,
                       "--tls-key-file-pass", "open")
        self.assertEqual(self.subject(), "locked")

    def test_versions_are_those_of_the_setting(self):
        self.start_tls("--tls-protocols", "TLSv1.2")
        self.assertEqual(self.handshake(self.context()).version(), "TLSv1.2")
        self.connect().ask("CONFIG", "SET", "tls-protocols", "TLSv1.3")
        self.assertEqual(self.handshake(self.context()).version(), "TLSv1.3")
        old = self.context()
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            self.handshake(old)

    def test_a_flood_of_renegotiations_uses_no_memory(self):
        self.start_tls("--tls-protocols", "TLSv1.2", "--tls-ciphers", Renegotiator.CIPHER,
                       "--requirepass", "secret")
        stranger = Renegotiator(self.tls_port, self.certificates.folder)
        self.addCleanup(stranger.socket.close)
        before, sent = self.server.memory(), 0
        stranger.socket.settimeout(2)
        with self.assertRaises(TimeoutError):  # the server stops reading, because the client does not
            while sent < 64 << 20:
                sent += stranger.socket.send(b"".join(stranger.record() for _ in range(4000)))
        if not SANITIZED:
            self.assertLess(self.server.memory() - before, 2 << 20)
        self.assertLess(self.server.cpu_seconds_of(1), 0.5)
        admin = self.connect()
        self.assertEqual(admin.ask("AUTH", "secret"), b"OK")
        stranger.socket.close()
        self.assertTrue(eventually(
            lambda: b"connected_clients:1\r" in admin.ask("INFO", "clients")))

    def test_a_renegotiation_is_refused_and_the_connection_stays(self):
        self.start_tls("--tls-protocols", "TLSv1.2", "--tls-ciphers", Renegotiator.CIPHER)
        client = Renegotiator(self.tls_port, self.certificates.folder)
        self.addCleanup(client.socket.close)
        client.socket.settimeout(20)
        for _ in range(3):
            client.socket.sendall(client.record())
            header = client.socket.recv(5, socket.MSG_WAITALL)
            alert = client.socket.recv(int.from_bytes(header[3:5], "big"), socket.MSG_WAITALL)
            self.assertEqual((header[0], alert[:2]), (21, b"\x01\x64"))  # a warning: no_renegotiation

    def test_a_client_without_tls_is_closed_and_affects_no_other(self):
        self.start_tls()
        admin = self.connect()
        for words in b"PING\r\n", request("PING"), b"\x16\x03\x01\xff\xff" + bytes(100), b"":
            with socket.create_connection(("127.0.0.1", self.tls_port), timeout=20) as raw:
                raw.sendall(words)
                raw.shutdown(socket.SHUT_WR)
                self.assertNotIn(b"PONG", b"".join(iter(lambda: raw.recv(1000), b"")))
        self.assertTrue(eventually(
            lambda: b"connected_clients:1\r" in admin.ask("INFO", "clients")))
        self.assertTrue(self.client().ping())

    def test_a_client_that_does_not_finish_the_handshake_is_closed(self):
        self.start_tls()
        served = self.client()
        self.assertTrue(served.ping())
        begun = time.monotonic()
        silent = [socket.create_connection(("127.0.0.1", self.tls_port), timeout=20) for _ in range(3)]
        silent[1].sendall(b"\x16")
        silent[2].sendall(b"\x16\x03\x01\x02\x00\x01")
        for raw in silent:
            with raw:
                self.assertEqual(raw.recv(100), b"")
        self.assertGreater(time.monotonic() - begun, 9)
        self.assertTrue(served.ping())

    def test_beyond_maxclients_is_refused_without_a_handshake(self):
        self.start_tls()
        admin = self.connect()
        alone = lambda: b"connected_clients:1\r" in admin.ask("INFO", "clients")
        self.assertTrue(eventually(alone))
        self.assertEqual(admin.ask("CONFIG", "SET", "maxclients", 2), b"OK")
        served = self.handshake(self.context())
        self.assert_turned_away()
        self.assertIn(b"rejected_connections:1\r", admin.ask("INFO", "stats"))
        served.sendall(request("PING"))
        self.assertEqual(served.recv(100), b"+PONG\r\n")

    def test_works_with_redis_cli(self):
        self.start_tls()
        answer = subprocess.run(
            ["redis-cli", "--tls", "--cacert", self.certificates.authority, "-h", "127.0.0.1", "-p",
             str(self.tls_port), "PING"], capture_output=True, text=True, timeout=20)
        self.assertEqual(answer.stdout, "PONG\n")

    def test_errors_keep_the_server_from_starting(self):
        certificate, key = self.server_files
        for options, reason in [
                (["--tls-cert-file", certificate], "tls-key-file"),
                (["--tls-key-file", key], "tls-cert-file"),
                (["--tls-cert-file", certificate, "--tls-key-file", key], "tls-auth-clients"),
                (["--tls-cert-file", key, "--tls-key-file", key], "tls-cert-file")]:
            command = [PROGRAM, "--port", str(free_port()), "--tls-port", str(free_port()), "--save", "",
                       *options]
            end = subprocess.run(command, capture_output=True, text=True, timeout=20)
            self.assertEqual(end.returncode, 1, options)
            self.assertIn(reason, end.stderr)

    @unittest.skipIf(SANITIZED, "memory is counted in another way")
    def test_counts_memory_of_openssl(self):
        self.start_tls()
        admin = self.connect()
        used = lambda: int(admin.ask("INFO", "memory").split(b"used_memory:")[1].split(b"\r\n")[0])
        context, count, text = self.context(), 20, b"x" * (1 << 20)
        self.handshake(context).sendall(request("PING"))  # memory that all of them share
        before = used()
        for _ in range(count):
            secret = self.handshake(context)
            secret.sendall(request("ECHO", text))
            left = len(text) + len(b"$1048576\r\n\r\n")
            while left > 0:
                left -= len(secret.recv(left))
            secret.sendall(request("PING"))
            self.assertEqual(secret.recv(7), b"+PONG\r\n")
        taken = used() - before
        lines = [line for line in admin.ask("CLIENT", "LIST").split(b"\n") if b"cmd=ping" in line]
        accounted = sum(int(line.split(b" tot-mem=")[1].split()[0]) for line in lines)
        self.assertGreaterEqual(len(lines), count)
        self.assertGreaterEqual(accounted, taken)
        self.assertLess(accounted, 2.5 * taken)


if __name__ == "__main__":
    unittest.main()
