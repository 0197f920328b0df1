"""The agent comes along unseen: environments, and every way a program is started, are as without it."""

import os
import shutil
import subprocess

import live
from live import workload

LIBRARIES = ("libm.so.6", "libdl.so.2")


class Unseen(live.LiveTest):
    """Runs a command bare and recorded, each in a new folder of the same name."""

    def make_folder(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        os.chmod(folder, 0o777)

    def assert_same(self, command, *options, as_ordinary_user=False, expect=None, **entries):
        """The recording, for what else is to be said of it.  entries: of the command's environment."""
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("LD_PRELOAD", "OLDPWD", "_")}
        launcher, folder = [], self.path("work")
        if as_ordinary_user:
            launcher = ["setpriv", f"--reuid={live.ORDINARY_USER}", f"--regid={live.ORDINARY_USER}", "--clear-groups"]
        prepare = ["env", "-C", folder, "LC_ALL=C", *(f"{name}={value}" for name, value in entries.items())]
        self.make_folder(folder)
        bare = subprocess.run([*launcher, *prepare, *command], env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        self.make_folder(folder)
        recording = self.record([*prepare, *command], *options,
                                launcher=launcher, env=environment, expect=None)
        recorded = recording.run
        self.assertEqual(recorded.stdout.decode(errors="replace").splitlines(),
                         bare.stdout.decode(errors="replace").splitlines())
        self.assertEqual(recorded.stderr, bare.stderr)
        self.assertEqual(recorded.returncode, bare.returncode)
        if expect is not None:
            self.assertEqual(bare.returncode, expect)
        return recording

    def assert_all_entered(self, recording, least):
        """Every image was that is in the recording, and there are at least so many."""
        images = recording.rows("SELECT name, pid, unentered_reason FROM processes")
        self.assertGreaterEqual(len(images), least)
        self.assertEqual([image for image in images if image[2] is not None], [])


class Environments(Unseen):

    def test_a_program_finds_its_environment_by_every_way_there_is(self):
        recording = self.assert_same(workload("environs"))
        self.assertNotIn(b"FATHOM_RECORDER=", recording.run.stdout)
        self.assertNotIn(b"libfathom", recording.run.stdout.replace(live.AGENT.encode(), b""))

    def test_so_it_does_as_an_unprivileged_user(self):
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            self.skipTest("root and setpriv (util-linux) are needed to become an unprivileged user")
        self.assert_same(workload("environs"), as_ordinary_user=True)

    def test_so_it_does_with_the_timer(self):
        self.assert_same(workload("environs"), "--trigger", "timer")

    def test_a_title_that_is_written_over_it_is_as_long(self):
        self.assert_same(workload("environs", "retitle"))

    def test_one_with_thousands_of_entries_goes_on_to_the_next_image(self):
        self.assert_all_entered(self.assert_same(workload("environs", "huge", 5000)), 2)

    def test_a_program_that_clears_it_is_entered_again_all_the_same(self):
        self.assert_all_entered(self.assert_same(workload("environs", "clear")), 2)

    def test_ordinary_programs_print_it(self):
        for command in (["env"], ["env", "-i", "env"], ["cat", "/proc/self/environ"],
                        ["sh", "-c", "cat /proc/$$/environ; exit 3"],
                        ["env", "-i", "sh", "-c", "cat /proc/self/environ; env"]):
            with self.subTest(command):
                self.assert_all_entered(self.assert_same(command), 1)

    def test_variables_of_the_users_own_stay(self):
        recording = self.assert_same(["env"], FATHOM_RATE="99", FATHOM_RECORDERS="no", LD_PRELOADED="no")
        for entry in (b"FATHOM_RATE=99", b"FATHOM_RECORDERS=no", b"LD_PRELOADED=no"):
            self.assertIn(entry, recording.run.stdout.splitlines())

    def test_make_is_entered_with_its_children_although_the_environment_was_cleared(self):
        self.need("make")
        with open(self.path("Makefile"), "w") as file:
            file.write("all:\n\t@env\n\t@sh -c 'env -i env; echo $$MAKELEVEL'\n\t@false\n")
        recording = self.assert_same(["env", "-i", shutil.which("make"), "-rf", self.path("Makefile")], expect=2)
        self.assert_all_entered(recording, 3)


class Preloading(Unseen):
    """The user's own LD_PRELOAD."""

    def test_the_users_libraries_are_there_and_in_order(self):
        script = ("env | grep LD_PRELOAD; grep -o 'lib[a-z]*-*[a-z]*\\.so' /proc/self/maps | sort -u |"
                  " grep -v libfathom; LD_PRELOAD= env | grep LD_PRELOAD; unset LD_PRELOAD; env | grep -c LD_PRELOAD")
        for value in (":".join(LIBRARIES), " ".join(LIBRARIES), LIBRARIES[0] + ":", "", ":"):
            with self.subTest(value):
                recording = self.assert_same(["sh", "-c", script], LD_PRELOAD=value)
                self.assertIn(f"LD_PRELOAD={value}".encode(), recording.run.stdout.splitlines())

    def test_of_two_assignments_ld_so_takes_the_last(self):
        """What everything here rests on: elf/rtld.c, process_envvars()."""
        early = os.path.join(live.WORKLOADS, "libearly.so")
        for values, is_loaded in (((early, "libm.so.6"), False), (("libm.so.6", early), True)):
            ends = execve_with([f"LD_PRELOAD={value}" for value in values], "/bin/true")
            self.assertEqual(b"constructor" in ends, is_loaded, values)

    def test_a_library_that_is_not_there_is_complained_of_in_the_same_words(self):
        self.assert_same(["sh", "-c", "true; exit 4"], LD_PRELOAD="/no/such/library.so", expect=4)

    def test_constructors_of_other_libraries_see_nothing_and_are_sampled(self):
        early = os.path.join(live.WORKLOADS, "libearly.so")
        recording = self.assert_same(["env", "-u", "LD_PRELOAD", "true"], LD_PRELOAD=early)
        self.assertGreater(recording.time_of("early_work", "self_ns"), 0)
        self.assertGreater(recording.time_of("early_work", "self_ns"), recording.head()["startup_ns"])

    def test_other_allocators_stay_in_place(self):
        for name in ("libjemalloc.so.2", "libtcmalloc_minimal.so.4"):
            with self.subTest(name):
                listed = subprocess.run(["ldconfig", "-p"], capture_output=True).stdout
                if name.encode() not in listed:
                    self.skipTest(f"{name} is not installed")
                self.assert_same(["sh", "-c", f"env; grep -c {name} /proc/self/maps; ls /"], LD_PRELOAD=name)


def execve_with(entries, path):
    """What a program prints that is executed with just these entries, doubles too."""
    read_end, write_end = os.pipe()
    script = ("import ctypes, sys; libc = ctypes.CDLL(None); texts = ctypes.c_char_p * {n};"
              "libc.execve({p!r}, (ctypes.c_char_p * 2)({p!r}), texts(*{e!r}, None))").format(
                  n=len(entries) + 1, p=path.encode(), e=[entry.encode() for entry in entries])
    with subprocess.Popen(["python3", "-c", script], stdout=write_end, pass_fds=[write_end],
                          stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        os.close(write_end)
        with os.fdopen(read_end, "rb") as file:
            return file.read()


class Executing(Unseen):

    def test_every_exec_gives_the_next_image_its_environment(self):
        # Each of the eleven ways, in a child of fork and of vfork, and execs that fail before.
        self.assert_all_entered(self.assert_same(workload("executes", "exec")), 20)

    def test_so_it_does_with_the_timer(self):
        self.assert_same(workload("executes", "exec"), "--trigger", "timer")

    def test_vfork_children_are_entered_and_leave_no_memory_behind(self):
        self.assert_all_entered(self.assert_same(workload("executes", "vforks")), 100)

    def test_the_smallest_of_stacks_has_room_for_every_one(self):
        # And for a trap at any moment: where it does not fit, the kernel kills.
        for _ in range(10):
            self.assert_same(workload("executes", "small"))

    def test_an_exec_that_fails_fails_as_ever(self):
        self.assert_same(workload("executes", "errors"))

    def test_what_is_too_large_is_too_large_and_nothing_else_is(self):
        self.assert_same(workload("executes", "large"))

    def test_posix_spawn_heeds_its_actions_and_attributes(self):
        self.assert_same(workload("executes", "spawn"))

    def test_system_answers_as_libcs_does(self):
        self.assert_all_entered(self.assert_same(workload("executes", "system")), 5)

    def test_popen_answers_as_libcs_does(self):
        self.assert_same(workload("pipes"))

    def test_many_threads_may_call_popen_while_others_set_the_environment(self):
        self.assert_same(workload("pipes", "storm", 250))

    def test_programs_that_start_programs_are_not_distinguished(self):
        for command in (["bash", "-c", "bash -c 'bash -c env' | grep -v SHLVL"],
                        ["bash", "-c", "exec bash -c 'exec true'"], ["nohup", "env"], ["setsid", "-w", "env"],
                        ["sh", "-c", "echo a b c | xargs -n1 env echo"],
                        ["find", "/etc/passwd", "-exec", "env", ";"],
                        ["perl", "-e", "print `env`; system('env'); exec 'env'"],
                        ["awk", "BEGIN { while ((\"env\" | getline x) > 0) print x; system(\"env\") }"],
                        ["python3", "-c", "import os, subprocess; subprocess.run(['env']); os.system('env');"
                         "print(os.popen('env').read()); os.execlp('env', 'env')"],
                        ["ruby", "-e", "puts `env`; system('env'); exec('env')"]):
            with self.subTest(command[0]):
                self.need(command[0])
                self.assert_same(command)

    def test_a_recorder_within_a_recorded_program_has_its_command_to_itself(self):
        command = [live.FATHOM, "record", "-q", "-o", "inner.fathom", "--", "sh", "-c", "env; exit 5"]
        recording = self.assert_same(command, expect=5)
        self.assertGreater(recording.head()["processes"], 0)

    def test_a_static_program_gets_exactly_its_environment_and_its_signals(self):
        static = self.build_static("""
            #include <signal.h>
            #include <stdio.h>
            extern char **environ;
            int main(void)
            {
                struct sigaction action;
                for (char **entry = environ; *entry; entry++)
                    puts(*entry);
                sigaction(SIGTRAP, 0, &action);
                return action.sa_handler == SIG_IGN;
            }""")
        for script, code in (('exec "$0"', 0), ('"$0"; "$0"', 0), ("trap '' TRAP; exec \"$0\"", 1)):
            with self.subTest(script):
                self.assert_same(["bash", "-c", script, static], expect=code)

    def build_static(self, source):
        self.need("cc")
        path = self.path("static")
        built = subprocess.run(["cc", "-x", "c", "-static", "-o", path, "-"], input=source.encode(),
                               capture_output=True)
        if built.returncode != 0:
            self.skipTest("cc does not make static programs here")
        return path

    def test_a_thread_may_execute_and_so_may_one_of_an_exec_that_fails_first(self):
        static = self.build_static("int main(void) { return 6; }")
        script = ("import os, threading\n"
                  "def run():\n"
                  "    for path in ('/no/such', '/etc/passwd'):\n"
                  "        try: os.execv(path, ['x'])\n"
                  "        except OSError as error: print(error, flush=True)\n"
                  f"    os.execv({static!r}, ['x'])\n"
                  "thread = threading.Thread(target=run); thread.start(); thread.join()\n")
        self.assert_same(["python3", "-c", script], expect=6)


if __name__ == "__main__":
    live.main()
