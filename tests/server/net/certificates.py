"""Certificates for tests, made by the openssl program."""

import pathlib
import subprocess


class Certificates:
    """A test authority and the certificates that it signs, as files in a folder."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.authority = self.path("ca.crt")
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                      "-nodes", "-days", "1", "-subj", "/CN=authority", "-keyout",
                      self.path("ca.key"), "-out", self.authority)

    def path(self, name):
        return str(self.folder / name)

    def make(self, name, password=None):
        """Creates the certificate and the key of `name`, for the address 127.0.0.1."""
        certificate, key, request = (self.path(f"{name}.{end}") for end in ("crt", "key", "csr"))
        secrecy = ["-passout", f"pass:{password}"] if password else ["-nodes"]
        self._openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", *secrecy,
                      "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1",
                      "-keyout", key, "-out", request)
        self._openssl("x509", "-req", "-in", request, "-CA", self.authority, "-CAkey",
                      self.path("ca.key"), "-CAcreateserial", "-days", "1", "-copy_extensions",
                      "copy", "-out", certificate)
        return certificate, key

    def _openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True)
