"""The load: redis-benchmark for speed, a plain pipelining client to fill a server."""

import csv
import io
import re
import shlex
import socket
import subprocess

CLIENTS = 50
END = "end-of-batch"  # the reply to the last request of a batch


def encode(*words):
    """Returns a request in RESP."""
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        data = word if isinstance(word, bytes) else str(word).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(data), data))
    return b"".join(parts)


def ask(port, *words, patience_s=300):
    """Sends one request on a new connection. Returns the first line of the reply."""
    with socket.create_connection(("127.0.0.1", port), patience_s) as connection:
        connection.sendall(encode(*words))
        reply = connection.makefile("rb").readline()
    if not reply or reply.startswith(b"-"):
        raise RuntimeError(f"{words[0]}: a server answered {reply.decode()}")
    return reply


def fill(port, requests):
    """Sends encoded requests in batches. Returns when the server has replied to all. Stops at an error."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        batch = []
        for request in requests:
            batch.append(request)
            if len(batch) == 200:
                _exchange(connection, batch)
                batch = []
        _exchange(connection, batch)


def _exchange(connection, batch):
    connection.sendall(b"".join(batch) + encode("ECHO", END))
    tail, end = b"", b"\r\n%s\r\n" % END.encode()
    while not tail.endswith(end):
        replies = connection.recv(1 << 16)
        if not replies:
            raise RuntimeError("a server closed the connection")
        if error := re.search(rb"^-[A-Z].*", replies, re.MULTILINE):
            raise RuntimeError(f"a server refused a request: {error.group().decode()}")
        tail = (tail + replies)[-len(end):]


def drive(port, words, pipeline, requests, span, connections=CLIENTS):
    """Lets redis-benchmark send one command repeatedly. Each __rand_int__ is below `span`."""
    command = ["redis-benchmark", "-p", str(port), "-c", str(connections), "-P", str(pipeline),
               "-n", str(requests), "-r", str(span), "--csv", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:  # it stops at the first error reply
        raise RuntimeError(f"{shlex.join(command)}: {done.stderr.strip()}")
    row = list(csv.DictReader(io.StringIO(done.stdout)))[-1]
    return {
        "requests_per_second": float(row["rps"]),
        **{f"{name}_ms": float(row[f"{name}_latency_ms"]) for name in ("p50", "p95", "p99", "max")},
    }
