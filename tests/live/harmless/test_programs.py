"""Programs of every build run as without us, wherever they are run."""

import os
import re
import shutil
import signal
import subprocess

import live
from live_programs import BURN, SET_PRIVILEGES, TRIGGERS, ProgramsTest, without_passing


def without_order(text):
    """Of two threads that race, either may be the one that is caught."""
    return without_passing(b"\n".join(line for line in text.splitlines()
                                      if not line.startswith(b" ") and line != b""))


class Sanitizers(ProgramsTest):

    BUILDS = [(compiler, kind, runtime, flags)
              for compiler, options in (("gcc", {"shared": [], "static": ["-static-lib%ssan"]}),
                                        ("clang-14", {"static": [], "shared": ["-shared-libsan"]}))
              for kind in ("address", "thread", "undefined", "leak")
              for runtime, flags in options.items()]

    def build_with(self, source, compiler, kind, runtime, flags):
        short = {"address": "a", "thread": "t", "undefined": "ub", "leak": "l"}[kind]
        flags = [f"-fsanitize={kind}", *[flag.replace("%s", short) for flag in flags]]
        if compiler != "gcc" and runtime == "shared":
            flags.append("-Wl,-rpath," + self.runtimes_of(compiler))
        return self.build(f"{compiler}-{kind}-{runtime}-{source[:-2]}", source, compiler=compiler, flags=flags)

    def runtimes_of(self, compiler):
        found = subprocess.run([self.need(compiler), "-print-file-name=libclang_rt.asan-x86_64.so"],
                               capture_output=True)
        return os.path.dirname(found.stdout.decode().strip())

    def is_sampled(self, compiler, kind, runtime, _, recording):
        """Not what clang's TSan executes anew past libc; nor what fails before main() without us."""
        return recording.run.stdout and not (compiler == "clang-14" and kind == "thread")

    def builds(self, first):
        """All of them in the long tests; else every second for each of the two tests."""
        builds = list(enumerate(self.BUILDS))
        return builds if live.IS_LONG else builds[first::2]

    def test_a_sanitized_program_runs_as_without_us_and_is_sampled(self):
        for number, build in self.builds(0):
            for trigger in live.in_turn(TRIGGERS, number + number // 2):
                with self.subTest(build=build[:3], trigger=trigger):
                    program = self.build_with("busy.c", *build)
                    recording = self.assert_same([program, "100"], "--trigger", trigger, change=without_passing)
                    if self.is_sampled(*build, recording):
                        self.assert_sampled(recording, "busy_work", least=0.05)

    def test_what_sanitizers_report_is_the_same(self):
        faults = {"address": ("overflow", "leak"), "thread": ("race",), "leak": ("leak",),
                  "undefined": ("undefined",)}
        for number, build in self.builds(1):
            for fault in faults[build[1]]:
                for trigger in live.in_turn(TRIGGERS, number + number // 2 + 1):
                    with self.subTest(build=build[:3], fault=fault, trigger=trigger):
                        program = self.build_with("faulty.c", *build)
                        recording = self.assert_same([program, fault], "--trigger", trigger,
                                                     change=without_order if fault == "race" else without_passing)
                        if self.is_sampled(*build, recording):
                            self.assert_sampled(recording, "spin", least=0.03)

    def test_a_runtime_that_the_user_preloads_comes_first(self):
        where = subprocess.run([self.need("gcc"), "-print-file-name=libasan.so"], capture_output=True)
        runtime = os.path.realpath(where.stdout.decode().strip())
        if not os.path.isabs(runtime) or not os.path.exists(runtime):
            self.skipTest("gcc has no libasan.so")
        environment = {**os.environ, "LD_PRELOAD": runtime, "ASAN_OPTIONS": "detect_leaks=0"}
        recording = self.assert_same([self.build("unsanitized", "busy.c"), "100"], env=environment)
        self.assert_sampled(recording, "busy_work", least=0.1)

    def test_a_program_whose_runtime_is_not_first_fails_as_without_us(self):
        program = self.build("sanitized", "busy.c", flags=["-fsanitize=address"])
        allocator = find_library(self, "libjemalloc.so.2")
        recording = self.assert_same([program, "100"], change=without_passing,
                                     env={**os.environ, "LD_PRELOAD": allocator})
        self.assertIn(b"does not come first", recording.run.stderr)


def find_library(test, name):
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"):
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    test.skipTest(f"{name} is not installed")


class Allocators(ProgramsTest):

    LIBRARIES = ("libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2.0")

    def assert_runs(self, program, **options):
        for trigger in TRIGGERS:
            with self.subTest(trigger=trigger):
                recording = self.assert_same([program, "300"], "--trigger", trigger, runs=3 if live.IS_LONG else 1, **options)
                self.assertEqual(self.reasons(recording), {})
                self.assert_sampled(recording, "busy_work", least=0.2)

    def test_an_allocator_that_is_preloaded(self):
        for name in self.LIBRARIES:
            with self.subTest(name):
                self.assert_runs(self.build("plain", "busy.c"),
                                 env={**os.environ, "LD_PRELOAD": find_library(self, name)})

    def test_an_allocator_that_is_linked(self):
        for name in self.LIBRARIES:
            with self.subTest(name):
                self.assert_runs(self.build("with_" + name, "busy.c",
                                            flags=["-Wl,--no-as-needed", find_library(self, name)]))

    def test_an_allocator_of_the_programs_own(self):
        self.assert_runs(self.build("own", "busy.c", "own_malloc.c", flags=["-fno-builtin"]))


class Interposers(ProgramsTest):

    def test_a_program_that_stands_before_the_functions_we_stand_before(self):
        recording = self.assert_same([self.build("before", "busy.c", "interposing.c"), "100"], runs=3)
        self.assert_sampled(recording, "busy_work", least=0.2)

    def test_a_preloaded_library_that_does(self):
        library = self.build("libinterposing.so", "interposing.c", flags=["-shared", "-fPIC"])
        program = self.build("plain", "busy.c")
        # By env(1), for fathom itself would say how often it called.
        recording = self.assert_same(["env", "LD_PRELOAD=" + library, program, "100"], runs=3)
        self.assert_sampled(recording, "busy_work", least=0.2)


class Loading(ProgramsTest):

    def host(self, *flags, name="host"):
        return self.build(name, "host.c", flags=["-ldl", *flags])

    def plugin(self):
        return self.build("libplugin.so", "plugin.c", flags=["-shared", "-fPIC"])

    def test_plugins(self):
        for trigger in TRIGGERS:
            with self.subTest(trigger=trigger):
                recording = self.assert_same([self.host(), "dlopen", self.plugin()], "--trigger", trigger, runs=3)
                self.assert_sampled(recording, "run")

    def test_plugins_that_find_libc_before_us(self):
        for trigger in TRIGGERS:
            with self.subTest(trigger=trigger):
                self.assert_same([self.host(), "deepbind", self.plugin(), str(int(signal.SIGUSR1))],
                                 "--trigger", trigger, runs=3)

    def test_plugins_with_a_libc_of_their_own_end_the_sampling(self):
        for trigger in TRIGGERS:
            for number in (signal.SIGUSR1, signal.SIGTRAP):
                with self.subTest(trigger=trigger, signal=number):
                    recording = self.assert_same([self.host(), "dlmopen", self.plugin(), str(int(number))],
                                                 "--trigger", trigger, runs=10 if live.IS_LONG else 2,
                                                 change=lambda text: text.replace(b"default 0", b"default 1"))
                    self.assertEqual(self.reasons(recording), {"host": {"it loaded a second C library (dlmopen)"}})

    def test_plugins_are_found_by_the_programs_runpath(self):
        self.plugin()
        program = self.host("-Wl,-rpath,$ORIGIN", "-Wl,--enable-new-dtags", name="origin")
        for way in ("dlopen", "deepbind", "dlmopen"):
            with self.subTest(way):
                self.assert_same([program, way, "libplugin.so", str(int(signal.SIGUSR1))])

    def test_a_program_that_ld_so_is_asked_to_start(self):
        loader = os.path.realpath("/lib64/ld-linux-x86-64.so.2")
        program = self.build_text("burn", BURN)
        self.assert_sampled(self.assert_same([loader, program]), "main")
        for option in ("--list", "--verify", "--help"):
            with self.subTest(option):
                self.assert_same([loader, option, program], change=without_passing)

    def test_ldd_lists_what_the_program_needs(self):
        program = self.build_text("burn", BURN)
        for command in (["ldd", program], ["sh", "-c", f"ldd {program}"],
                        ["env", "LD_TRACE_LOADED_OBJECTS=1", program]):
            with self.subTest(command):
                self.assert_same(command, change=without_passing)

    def test_lazy_and_eager_binding(self):
        for number, flags in enumerate((["-Wl,-z,lazy"], ["-Wl,-z,now"], ["-no-pie"], ["-no-pie", "-Wl,-z,norelro"],
                                        ["-Wl,--hash-style=sysv"], ["-Wl,-z,max-page-size=2097152"])):
            program = self.build("busy" + "".join(flags).replace("/", ""), "busy.c", flags=flags)
            for settings in live.in_turn(({}, {"LD_BIND_NOW": "1"}), number):
                with self.subTest(flags=flags, settings=settings):
                    self.assert_sampled(self.assert_same([program, "100"], env={**os.environ, **settings}),
                                        "busy_work", least=0.2)

    def test_an_auditor(self):
        auditor = self.build("libaudit.so", "audit.c", flags=["-shared", "-fPIC"])
        recording = self.assert_same([self.build("plain", "busy.c"), "100"], runs=3,
                                     env={**os.environ, "LD_AUDIT": auditor})
        self.assert_sampled(recording, "busy_work", least=0.2)

    def test_what_ld_so_says_of_itself_is_left_to_it(self):
        program = self.build_text("burn", BURN)
        self.assert_same([program], env={**os.environ, "LD_DEBUG": "help"})


class Elsewhere(ProgramsTest):
    """Where our files or our socket are not: no word is said."""

    def chroot(self):
        """A folder with a shell and what it needs."""
        root = os.path.join(self.built, "root")
        if not os.path.isdir(root):
            listed = subprocess.run(["ldd", "/bin/sh"], capture_output=True, check=True)
            for path in ["/bin/sh", *re.findall(r"(/\S+) \(0x", listed.stdout.decode())]:
                os.makedirs(root + os.path.dirname(path), exist_ok=True)
                shutil.copy(path, root + path)
        return root

    def test_another_root(self):
        if os.geteuid() != 0:
            self.skipTest("only root may change its root")
        script = "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; echo done; exit 7"
        command = ["chroot", self.chroot(), "/bin/sh", "-c", script]
        self.assertEqual(list(self.reasons(self.assert_same(command, "--trigger", "timer"))), ["sh"])
        recording = self.assert_same(command)
        if recording.head()["trigger"] == "sigtrap":
            self.assertEqual(self.reasons(recording), {}, "no agent, but copied stacks")
            self.assertGreater(recording.head()["sampled_ns"], 0.5 * recording.total_ns())

    def test_another_mount_namespace(self):
        probe = self.run_bare(["unshare", "-m", "true"])
        if probe.returncode != 0:
            self.skipTest("unshare -m: " + probe.stderr.decode().strip())
        for hidden in (os.path.dirname(os.path.realpath(live.AGENT)) if live.AGENT else "/opt", "/run", "/var/tmp"):
            with self.subTest(hidden):
                self.assert_same(["unshare", "-m", "sh", "-c",
                                  f"mount -t tmpfs none {hidden}; sh -c 'exit 3'; echo $?; exit 7"])

    def test_another_user(self):
        if os.geteuid() != 0:
            self.skipTest("only root may become another user")
        for command in ([*SET_PRIVILEGES, "sh", "-c", "id -u; exit 7"],
                        ["su", "-s", "/bin/sh", "nobody", "-c", "id -u; exit 7"],
                        ["sudo", "-n", "-u", "nobody", "sh", "-c", "id -u; exit 7"]):
            with self.subTest(command[0]):
                if shutil.which(command[0]) is None:
                    self.skipTest(f"{command[0]} is not installed")
                self.assert_same(command)


if __name__ == "__main__":
    live.main()
