"""A zsetd with an HTTP port, and a client of that port."""

import http.client
import socket

from server_process import free_port
from zsetd import ZsetdTest


class HttpTest(ZsetdTest):
    def start(self, *options, **more):
        for _ in range(3):  # another program may take the port first
            self.http_port = free_port()
            try:
                return super().start("--metrics-port", str(self.http_port), *options, **more)
            except RuntimeError as error:
                failure = error
        raise failure

    def request(self, method, path, body=None, headers=None):
        """Returns the status, the headers and the body of the response."""
        connection = http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=20)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read().decode()
        finally:
            connection.close()

    def exchange(self, data):
        """Sends these bytes and returns all that the server sends until it closes."""
        with socket.create_connection(("127.0.0.1", self.http_port), timeout=20) as raw:
            raw.sendall(data)
            received = b""
            try:
                while chunk := raw.recv(65536):
                    received += chunk
            except ConnectionResetError:
                pass
            return received
