"""The Debian package: its files and control files are correct, and its configuration works.

Builds it with cpack from the existing build. $BUILD is the build folder, $ZSETD the program.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]


def run(*words, **more):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, **more).stdout


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for tool in ("dpkg-deb", "dpkg-shlibdeps"):
            if shutil.which(tool) is None:
                raise unittest.SkipTest(f"there is no {tool}")
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        run("cpack", "--config", pathlib.Path(os.environ["BUILD"], "CPackConfig.cmake"), "-B", cls.folder)
        cls.deb = next(cls.folder.glob("zsetd_*.deb"))
        cls.root = cls.folder / "root"
        run("dpkg-deb", "--extract", cls.deb, cls.root)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def field(self, name):
        return run("dpkg-deb", "--field", self.deb, name).strip()

    def test_contains_the_files_of_a_service(self):
        files = {str(path.relative_to(self.root)) for path in self.root.rglob("*") if path.is_file()}
        wanted = {"usr/bin/zsetd", "etc/zsetd/zsetd.conf", "etc/logrotate.d/zsetd",
                  "lib/systemd/system/zsetd.service", "usr/share/man/man1/zsetd.1.gz",
                  "usr/share/man/man5/zsetd.conf.5.gz", "usr/share/doc/zsetd/copyright",
                  "usr/share/doc/zsetd/examples/prometheus-alerts.yml",
                  "usr/share/doc/zsetd/docs/commands/sorted-sets/zadd.md"}
        self.assertEqual(wanted - files, set())

    def completions(self, *words):
        """Returns the words that bash offers for the last of these words."""
        script = (f"source {self.root}/usr/share/bash-completion/completions/zsetd; COMP_WORDS=(\"$@\"); "
                  "COMP_CWORD=$(($# - 1)); _zsetd; printf '%s\\n' \"${COMPREPLY[@]}\"")
        return run("bash", "-c", script, "bash", os.environ["ZSETD"], *words).split()

    def test_bash_completes_settings_and_values(self):
        self.assertEqual(self.completions("--maxmemory-p"), ["--maxmemory-policy"])
        self.assertEqual(self.completions("--appendfsync", "e"), ["everysec"])
        self.assertIn("--check-config", self.completions("--"))
        self.assertEqual(self.completions("/etc/host"), run("bash", "-c", "compgen -f /etc/host").split())

    def test_zsh_can_read_its_completion(self):
        if shutil.which("zsh") is None:
            self.skipTest("there is no zsh")
        run("zsh", "-n", self.root / "usr/share/zsh/vendor-completions/_zsetd")

    def test_lintian_finds_no_error(self):
        if shutil.which("lintian") is None:
            self.skipTest("there is no lintian")
        done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", self.deb],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_depends_on_the_libraries_of_the_program(self):
        depends = self.field("Depends")
        for library in ("libc6", "libssl3", "libprometheus-cpp-core", "libspdlog", "adduser"):
            self.assertIn(library, depends)
        self.assertNotIn("-dev", depends)

    def test_keeps_files_that_an_operator_has_changed(self):
        conffiles = run("dpkg-deb", "--info", self.deb, "conffiles").split()
        self.assertEqual(conffiles, ["/etc/zsetd/zsetd.conf", "/etc/logrotate.d/zsetd"])

    def test_scripts_are_correct_shell(self):
        for name in ("postinst", "prerm", "postrm"):
            with self.subTest(name):
                run("sh", "-n", TOP / "conf" / "packaging" / name)
                self.assertIn("set -e", run("dpkg-deb", "--info", self.deb, name))

    def install_over(self, prepare):
        """Runs postinst in a folder whose configuration `prepare` has placed. Returns the calls of chown."""
        root = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        programs = root / "programs"
        for folder in (programs, root / "etc/zsetd", root / "var/lib", root / "var/log"):
            folder.mkdir(parents=True)
        calls = {"chown": 'echo "$@" >>"$CALLS"', "install": ":", "getent": ":", "systemctl": ":",
                 "deb-systemd-helper": ":", "deb-systemd-invoke": ":"}
        for name, body in calls.items():
            (programs / name).write_text(f"#!/bin/sh\n{body}\n")
            (programs / name).chmod(0o755)
        prepare(root / "etc/zsetd/zsetd.conf")
        run("sh", TOP / "conf/packaging/postinst", "configure", "0.1.0",
            env={"PATH": f"{programs}:/usr/bin:/bin", "DPKG_ROOT": str(root), "CALLS": str(root / "calls")})
        return (root / "calls").read_text().replace(str(root), "").splitlines()

    def test_the_service_cannot_write_its_configuration(self):
        calls = self.install_over(lambda conf: conf.write_text("port 6379"))
        self.assertEqual(calls, ["root:zsetd /etc/zsetd", "root:zsetd /etc/zsetd/zsetd.conf"])
        unit = (self.root / "lib/systemd/system/zsetd.service").read_text()
        self.assertIn("\nProtectSystem=strict\n", unit)
        self.assertNotIn("ReadWritePaths", unit)

    def test_systemd_does_not_end_a_last_save(self):
        unit = (self.root / "lib/systemd/system/zsetd.service").read_text()
        self.assertIn("\nTimeoutStopSec=infinity\n", unit)

    def test_an_upgrade_follows_no_link(self):
        for link in (pathlib.Path.symlink_to, pathlib.Path.hardlink_to):
            with self.subTest(link.__name__):
                secret = pathlib.Path(tempfile.mkdtemp(dir=self.folder), "shadow")
                secret.write_text("secret")
                secret.chmod(0o600)
                self.assertEqual(self.install_over(lambda conf: link(conf, secret)), ["root:zsetd /etc/zsetd"])
                self.assertEqual(secret.stat().st_mode & 0o777, 0o600)

    def test_configuration_can_be_used(self):
        conf = (self.root / "etc/zsetd/zsetd.conf").read_text()
        self.assertIn("\ndir /var/lib/zsetd\n", conf)
        self.assertIn("\nlogfile /var/log/zsetd/zsetd.log\n", conf)
        self.assertIn("\nrewrite-file /var/lib/zsetd/rewritten.conf\n", conf)
        check = run(os.environ["ZSETD"], "--check-config", self.root / "etc/zsetd/zsetd.conf", "--dir", self.folder,
                    "--logfile", self.folder / "zsetd.log")
        self.assertIn("zsetd can start with this configuration.", check)
        self.assertNotIn("without effect", check)

    def test_unit_is_correct(self):
        if shutil.which("systemd-analyze") is None:
            self.skipTest("there is no systemd-analyze")
        unit = (self.root / "lib/systemd/system/zsetd.service").read_text()
        path = self.folder / "zsetd.service"
        path.write_text(unit.replace("/usr/bin/zsetd", str(self.root / "usr/bin/zsetd")))
        result = subprocess.run(["systemd-analyze", "verify", "--man=no", path], capture_output=True, text=True)
        self.assertNotIn("zsetd.service:", result.stderr)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_installs_under_any_prefix(self):
        prefix = self.folder / "prefix"
        run("cmake", "--install", os.environ["BUILD"], "--prefix", prefix)
        self.assertTrue((prefix / "bin/zsetd").exists())
        self.assertTrue((prefix / "share/man/man1/zsetd.1.gz").exists())
        self.assertIn("build=zsetd-", run(prefix / "bin/zsetd", "--version"))


if __name__ == "__main__":
    unittest.main()
