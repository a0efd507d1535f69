"""The network between the nodes of a group: one TCP proxy in front of each node.

Other nodes, Sentinels and clients reach a node only through its proxy; a node of a cluster has a
second proxy, for the bus. The proxy finds out which party opened a connection: a replica states its
announced port in REPLCONF, a message of the bus contains its sender's ID, and a Sentinel has an
address of its own (127.0.0.21 and so on). All other connections are those of clients. So each link
between two parties can be cut, stalled in one or both directions, slowed down, or cut in the middle
of the bytes that are under way.
"""

import asyncio
import re
import socket
import threading

CLIENT = "client"
SENTINEL_ADDRESS = "127.0.0.2"  # followed by the number of the Sentinel
LISTENING_PORT = re.compile(rb"listening-port\r\n\$\d+\r\n(\d+)\r\n")
BUS_ID = slice(40, 80)  # in a message of the bus
CHUNK = 1 << 16


class Rule:
    """The treatment of the bytes between two parties. Without any rule they are forwarded."""

    def __init__(self, cuts=False, stalls=False, delay_s=0.0):
        self.cuts = cuts
        self.stalls = stalls
        self.delay_s = delay_s


OPEN = Rule()


class Network:
    def __init__(self):
        self._rules = {}  # by (sender, receiver)
        self._ports = {}  # the names of the nodes, by the port of their proxy
        self._bus_names = {}  # the names of the nodes, by their IDs on the bus
        self._servers = []
        self._connections = set()
        self._loop = asyncio.new_event_loop()
        self._changed = asyncio.Event()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    # --- Called by the test. ---

    def add(self, name, target_port):
        """Starts the proxy in front of a node, and returns its port."""
        listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        port = listener.getsockname()[1]
        self._ports[port] = name

        async def serve():
            self._servers.append(await asyncio.start_server(
                lambda *ends: self._serve(name, target_port, *ends), sock=listener))

        self._run(serve())
        return port

    def set_bus_id(self, name, node_id):
        """States the ID that a node has in messages of the bus."""
        self._bus_names[node_id.encode()] = name

    def set_rule(self, rule, senders, receivers):
        """Applies a rule to the bytes from each sender to each receiver."""
        async def change():
            for sender in senders:
                for receiver in receivers:
                    self._rules[sender, receiver] = rule
            if rule.cuts:
                self._cut(lambda connection: connection.is_between(senders, receivers))
            self._notify()

        self._run(change())

    def separate(self, some, others, rule):
        """Applies a rule to both directions."""
        self.set_rule(rule, some, others)
        self.set_rule(rule, others, some)

    def halve(self, some, others):
        """Cuts each connection between these parties after half of its next bytes."""
        async def change():
            for connection in self._connections:
                if connection.is_between(some, others) or connection.is_between(others, some):
                    connection.halves = True

        self._run(change())

    def heal(self, cut=False):
        """Removes all rules. Stalled bytes are delivered, or lost if `cut` is true."""
        async def change():
            if cut:
                self._cut(lambda connection: any(
                    self._rules.get(pair, OPEN).stalls for pair in connection.pairs()))
            self._rules.clear()
            for connection in self._connections:
                connection.halves = False
            self._notify()

        self._run(change())

    def close(self):
        async def end():
            for server in self._servers:
                server.close()
            tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        self._run(end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, coroutine):
        asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(10)

    # --- Runs in the loop. ---

    def _notify(self):
        self._changed.set()
        self._changed = asyncio.Event()

    def _cut(self, concerns):
        for connection in list(self._connections):
            if concerns(connection):
                connection.abort()

    async def _serve(self, node, target_port, reader, writer):
        try:
            back_reader, back_writer = await asyncio.open_connection("127.0.0.1", target_port)
        except OSError:
            writer.transport.abort()
            return
        for end in (writer, back_writer):  # asyncio does so only for sockets that it has opened itself
            end.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        address = writer.get_extra_info("peername")[0]
        is_sentinel = address.startswith(SENTINEL_ADDRESS)
        peer = f"sentinel{address[len(SENTINEL_ADDRESS):]}" if is_sentinel else CLIENT
        connection = Connection(peer, node, [writer.transport, back_writer.transport])
        self._connections.add(connection)
        try:
            await asyncio.gather(self._forward(connection, reader, back_writer, to_node=True),
                                 self._forward(connection, back_reader, writer, to_node=False))
        except (OSError, EOFError):
            pass
        finally:
            connection.abort()
            self._connections.discard(connection)

    async def _forward(self, connection, reader, writer, to_node):
        while data := await reader.read(CHUNK):
            if to_node and connection.peer == CLIENT and (found := LISTENING_PORT.search(data)):
                connection.peer = self._ports.get(int(found[1]), CLIENT)
            if to_node and data.startswith(b"RCmb"):
                connection.peer = self._bus_names.get(data[BUS_ID], connection.peer)
            while (rule := self._rules.get(connection.pairs()[0 if to_node else 1], OPEN)).stalls:
                await self._changed.wait()
            if rule.cuts:
                raise EOFError
            if rule.delay_s:
                await asyncio.sleep(rule.delay_s)
            if connection.halves:
                writer.write(data[:len(data) // 2])
                await writer.drain()
                writer.write_eof()
                raise EOFError
            writer.write(data)
            await writer.drain()
        raise EOFError


class Connection:
    def __init__(self, peer, node, transports):
        self.peer = peer  # the party that opened it
        self.node = node
        self.halves = False
        self._transports = transports

    def pairs(self):
        """Returns sender and receiver of each direction."""
        return (self.peer, self.node), (self.node, self.peer)

    def is_between(self, senders, receivers):
        return any(sender in senders and receiver in receivers for sender, receiver in self.pairs())

    def abort(self):
        for transport in self._transports:
            transport.abort()
