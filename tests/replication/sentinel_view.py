"""Sentinel's view of a server: the lines of INFO that it reads, and the replies to its commands."""

import re

ALL = "all of it"
LATELY_S = 60  # longer than a test, and shorter than the time since the epoch

# Sentinel reads the last six only after it has read the role.
NAMES = ("run_id", "role", "master_link_down_since_seconds", "master_host", "master_port",
         "master_link_status", "slave_priority", "slave_repl_offset", "replica_announced")
IS_READ = re.compile(rf"(?:{'|'.join(NAMES)}|slave\d+):")
SLAVE = re.compile(r"ip=([^,]*),port=(\d+),state=(\w+),offset=(\d+),lag=(\d+)")


def read_info(text):
    """Parses INFO by the rules of sentinelRefreshInstanceInfo() of redis-server 7.0."""
    found, slaves, role = {}, [], None
    for line in text.split("\r\n"):
        name, _, value = line.partition(":")
        if name == "run_id" and len(line) >= 47:
            found[name] = line[7:47]
        if re.match(r"slave\d", line):
            ip, port = line.index("ip=") + 3, line.index("port=") + 5
            slaves.append((line[ip:line.index(",", ip)], int(line[port:line.index(",", port)])))
        if len(line) >= 32 and line.startswith("master_link_down_since_seconds"):
            found[name] = int(line[31:])
        if line.startswith(("role:master", "role:slave")):
            role = value
        if role == "slave" and name in NAMES[3:]:
            found[name] = value.lower() if name == "master_link_status" else value
    return {**found, "role": role, "slaves": slaves}


class View:
    """One server at one moment, by its replies to INFO and ROLE. Values that differ in every run
    (ports, ids, offsets) are replaced by their meaning; `names` maps the servers' ports to
    names."""

    def __init__(self, info, role, names):
        self.names = names
        self.text = info.decode()
        self.role = role
        self.offset = re.search(r"\nmaster_repl_offset:(\d+)", self.text)[1]

    def shown(self):
        return {"lines": [self._normal(*line.split(":", 1)) for line in self.text.split("\r\n")
                          if IS_READ.match(line)],
                "read": {name: self._normal_field(name, value)
                         for name, value in read_info(self.text).items()},
                "role": self._normal_role(self.role)}

    def _normal(self, name, value):
        return f"{name}:{self._normal_field(name, value)}"

    def _normal_field(self, name, value):
        if name == "run_id":
            return "an id" if re.fullmatch("[0-9a-f]{40}", value) else value
        if name == "master_port":
            return self.names.get(int(value), value)
        if name == "slave_repl_offset":
            return self._normal_offset(value)
        if name == "master_link_down_since_seconds":
            return "lately" if 0 <= int(value) <= LATELY_S else value
        if name == "slaves":
            return [(ip, self.names.get(port, port)) for ip, port in value]
        return SLAVE.sub(self._normal_slave, value)

    def _normal_slave(self, match):
        ip, port, state, offset, lag = match.groups()
        name = self.names.get(int(port), port)
        lag = "now" if int(lag) <= LATELY_S else lag
        return f"ip={ip},port={name},state={state},offset={self._normal_offset(offset)},lag={lag}"

    def _normal_offset(self, value):
        return value if int(value) in (-1, 0, 1) else ALL if value == self.offset else "another"

    def _normal_role(self, role):
        words = [word.decode() if isinstance(word, bytes) else word for word in role]
        if words[0] == "master":
            slaves = [(ip.decode(), self.names.get(int(port), int(port)),
                       self._normal_offset(offset.decode())) for ip, port, offset in words[2]]
            return ["master", self._normal_offset(str(words[1])), slaves]
        return [words[0], words[1], self.names.get(words[2], words[2]), words[3],
                self._normal_offset(str(words[4]))]
