"""What a process of PostgreSQL waits for is what it says itself: a lock of another session's, its client."""

import os
import signal
import subprocess

import live
import live_wall
import processes

LOCKS = "BEGIN; UPDATE accounts SET balance = 1; SELECT pg_sleep(1.5); COMMIT;"
WANTS = "UPDATE accounts SET balance = 2;"


def binaries():
    """The newest version's programs here; None: there are none."""
    try:
        folders = sorted(os.listdir("/usr/lib/postgresql"), key=float)
    except (OSError, ValueError):
        return None
    return os.path.join("/usr/lib/postgresql", folders[-1], "bin") if folders else None


class Postgres(live_wall.WallTest):

    def as_user(self, command):
        """It does not run as root."""
        if os.geteuid() != 0:
            return command
        return [self.need("setpriv"), f"--reuid={live.ORDINARY_USER}", f"--regid={live.ORDINARY_USER}", "--clear-groups", *command]

    def run_as_user(self, command, **options):
        return subprocess.run(self.as_user(command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=120, cwd=self.folder, **options)

    def sql(self, text):
        return ["psql", "-h", self.folder, "-U", "test", "-q", "-c", text, "postgres"]

    def test_a_lock_is_called_by_its_kind(self):
        programs = binaries()
        if programs is None or not os.path.exists(os.path.join(programs, "initdb")):
            self.skipTest("PostgreSQL's server is not installed: apt-get install postgresql")
        self.need("psql")
        if os.geteuid() == 0:
            os.chown(self.folder, live.ORDINARY_USER, live.ORDINARY_USER)
        data = self.path("data")
        done = self.run_as_user([os.path.join(programs, "initdb"), "-D", data, "-A", "trust", "-U", "test", "--no-sync"])
        self.assertEqual(done.returncode, 0, done.stdout)
        with open(os.path.join(data, "postgresql.conf"), "a") as file:
            file.write(f"unix_socket_directories='{self.folder}'\nlisten_addresses=''\nfsync=off\n")
        server = subprocess.Popen(self.as_user([live.FATHOM, "record", "-q", "--clock", "wall", "-o",
                                                self.path("test.fathom"), "--", os.path.join(programs, "postgres"),
                                                "-D", data]), cwd=self.folder, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        self.addCleanup(server.kill)
        processes.wait_until(lambda: subprocess.run([os.path.join(programs, "pg_isready"), "-q", "-h", self.folder]
                                                    ).returncode == 0, 60, "PostgreSQL does not begin")
        self.assertEqual(self.run_as_user(self.sql("CREATE TABLE accounts AS SELECT 1 AS balance")).returncode, 0)
        first = subprocess.Popen(self.sql(LOCKS), cwd=self.folder)
        processes.wait_until(lambda: "PgSleep" in self.run_as_user(self.sql(
            "SELECT wait_event FROM pg_stat_activity")).stdout, 60, "the first session does not hold its row")
        self.assertEqual(self.run_as_user(self.sql(WANTS)).returncode, 0)
        first.wait(60)
        with open(os.path.join(data, "postmaster.pid")) as file:
            os.kill(int(file.readline()), signal.SIGINT)
        server.wait(60)
        recording = live.Recording(self.path("test.fathom"), None)
        if "my_wait_event_info" not in subprocess.run(["nm", "-D", os.path.join(programs, "postgres")],
                                                      capture_output=True, text=True).stdout:
            self.skipTest("this PostgreSQL is older than 14")
        locks = {row["name"]: row["self_ns"] for row in recording.report("--state", "lock")["functions"]}
        self.assertGreater(locks.get("epoll_wait(Lock transactionid)", 0), 0.3e9, locks)


if __name__ == "__main__":
    live.main()
