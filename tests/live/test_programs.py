"""Programs of every build run as without us, and those that cannot be entered are named."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

import live
from live import FATHOM, NOBODY

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
TRIGGERS = ("sigtrap", "timer")
SET_PRIVILEGES = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
# Of what sanitizers print: process and thread ids, addresses, and what stands in for them.
PASSING = re.compile(rb"==\d+==|\bpid[= ]\d+|\btid=\d+|0x[0-9a-f]+|BuildId: \w+")


def without_passing(text):
    return PASSING.sub(b"_", text)


def without_order(text):
    """Of two threads that race, either may be the one that is caught."""
    return without_passing(b"\n".join(line for line in text.splitlines()
                                      if not line.startswith(b" ") and line != b""))


class ProgramsTest(live.LiveTest):
    """Builds programs in a folder of the class, each once."""

    @classmethod
    def setUpClass(cls):
        cls.built = tempfile.mkdtemp(prefix="fathom-programs-")
        cls.addClassCleanup(shutil.rmtree, cls.built, ignore_errors=True)
        os.chmod(cls.built, 0o755)

    def build(self, name, *sources, compiler="gcc", flags=()):
        """A program of sources in programs/; skips the test where it cannot be built."""
        self.need(compiler)
        path = os.path.join(self.built, name)
        if not os.path.exists(path):
            done = subprocess.run([compiler, "-g", "-O1", "-D_GNU_SOURCE", "-o", path,
                                   *[os.path.join(SOURCES, source) for source in sources],
                                   "-pthread", *flags], capture_output=True, timeout=120)
            if done.returncode != 0:
                self.skipTest(f"{compiler} cannot build {name} with {' '.join(flags)}: "
                              f"{done.stderr.decode(errors='replace').splitlines()[-1]}")
        return path

    def build_text(self, name, text, *flags, compiler="gcc"):
        source = os.path.join(self.built, name + ".c")
        with open(source, "w") as file:
            file.write(text)
        return self.build(name, source, compiler=compiler, flags=flags)

    def run_bare(self, command, launcher=(), **options):
        return subprocess.run([*launcher, *command], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=120, cwd=self.folder, **options)

    def assert_same(self, command, *options, runs=1, change=bytes, launcher=(), **run_options):
        """Recorded, a command does as it does without us; its last recording."""
        bare = self.run_bare(command, launcher, **run_options)
        recording = None
        for _ in range(runs):
            recording = self.record(command, *options, expect=None, launcher=launcher, **run_options)
            recorded = recording.run
            self.assertEqual((recorded.returncode % 256, change(recorded.stderr), change(recorded.stdout)),
                             (bare.returncode % 256 if bare.returncode >= 0 else 128 - bare.returncode,
                              change(bare.stderr), change(bare.stdout)))
        return recording

    def assert_sampled(self, recording, name, least=0.5):
        self.assertGreater(recording.time_of(name, "total_ns"), least * recording.total_ns(),
                           recording.report()["functions"][:5])

    def reasons(self, recording):
        """{name: {reasons}} of the processes of a recording that nobody entered."""
        reasons = {}
        for name, reason in recording.rows("SELECT name, unentered_reason FROM processes"
                                           " WHERE unentered_reason IS NOT NULL"):
            reasons.setdefault(name, set()).add(reason)
        return reasons


# Ends with 3 after some CPU time.
BURN = """
#include <stdio.h>
int main(void)
{
	volatile unsigned long sum = 1;

	for (int i = 0; i < 100000000; i++)
		sum = sum * 3 + 1;
	puts("burned");
	return 3;
}
"""
# The same without a libc, which a machine may not have for 32 bits.
BURN_BY_HAND = """
.globl _start
_start:
	mov $200000000, %ecx
again:
	dec %ecx
	jnz again
	mov $1, %eax
	mov $3, %ebx
	int $0x80
"""


class Unentered(ProgramsTest):

    def assert_named(self, command, reason, *options, name=None, **run_options):
        recording = self.assert_same(command, *options, **run_options)
        self.assertEqual(self.reasons(recording), {name or os.path.basename(command[0])[:15]: {reason}})
        self.assertGreater(recording.head()["unentered_ns"], 0.5 * recording.total_ns())
        return recording

    def test_static_programs(self):
        for name, flags in (("static", ["-static"]), ("static-pie", ["-static-pie", "-fPIE"])):
            for trigger in TRIGGERS:
                with self.subTest(name, trigger=trigger):
                    self.assert_named([self.build_text(name, BURN, *flags)], "statically linked",
                                      "--trigger", trigger)

    def test_32_bit_programs(self):
        source = os.path.join(self.built, "hand.S")
        with open(source, "w") as file:
            file.write(BURN_BY_HAND)
        program = self.build("hand", source, flags=["-m32", "-nostdlib", "-static"])
        try:
            self.run_bare([program])
        except OSError as error:
            self.skipTest(f"this kernel runs no 32-bit programs: {error}")
        self.assert_named([program], "a 32-bit program")

    def test_32_bit_programs_that_ld_so_starts(self):
        program = self.build_text("small", BURN, "-m32")
        self.assert_named([program], "a 32-bit program")

    def test_programs_of_musl(self):
        program = self.build_text("musl", BURN, compiler="musl-gcc")
        self.assert_named([program], "linked with musl, not glibc")

    def test_programs_with_a_loader_of_their_own(self):
        loader = os.path.join(self.built, "ld-own.so.2")
        usual = "/lib64/ld-linux-x86-64.so.2"
        if not os.path.exists(usual):
            self.skipTest(f"this machine has no {usual}")
        shutil.copy(usual, loader)
        program = self.build_text("own_loader", BURN, f"-Wl,--dynamic-linker={loader}")
        self.assert_named([program], "started by another dynamic loader than ours")

    def test_set_user_id_programs(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make a set-user-ID program of another user")
        self.need("setpriv")
        program = self.build_text("setuid", BURN)
        os.chmod(program, 0o4755)
        self.assert_named([program], "set-user-ID, set-group-ID or with file capabilities",
                          launcher=SET_PRIVILEGES)

    def test_what_a_set_group_id_program_burns_is_charged_once(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make a set-group-ID program of another group")
        program = self.build_text("setgid", BURN)
        os.chown(program, 0, NOBODY)
        os.chmod(program, 0o2755)
        recording = self.assert_named([program], "set-user-ID, set-group-ID or with file capabilities")
        self.assert_explained(recording, within=0.1, slack_ns=5_000_000)

    def test_set_group_id_programs_that_end_at_once_have_their_reason(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make a set-group-ID program of another group")
        program = self.build_text("short", "int main(void) { return 0; }")
        os.chown(program, 0, NOBODY)
        os.chmod(program, 0o2755)
        recording = self.assert_same(["sh", "-c", f"for i in 1 2 3 4 5; do {program}; done"])
        self.assertEqual(self.reasons(recording),
                         {"short": {"set-user-ID, set-group-ID or with file capabilities"}})

    def test_threads_of_a_static_program_are_charged_once(self):
        program = self.build_text("threads", """
            #include <pthread.h>
            static void *burn(void *unused)
            {
                for (volatile int i = 0; i < 40000000; i++)
                    ;
                return unused;
            }
            int main(void)
            {
                pthread_t threads[3];
                for (int i = 0; i < 3; i++)
                    pthread_create(&threads[i], NULL, burn, NULL);
                pthread_exit(NULL);
            }""", "-static", "-pthread")
        recording = self.assert_named([program], "statically linked")
        self.assert_explained(recording, within=0.1, slack_ns=5_000_000)

    def test_programs_with_file_capabilities(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give a program capabilities")
        program = self.build_text("capable", BURN)
        if subprocess.run([self.need("setcap"), "cap_net_raw+ep", program]).returncode != 0:
            self.skipTest("this file system keeps no capabilities")
        self.assert_named([program], "set-user-ID, set-group-ID or with file capabilities",
                          launcher=SET_PRIVILEGES)
        # Root gains nothing by them.
        self.assertEqual(self.reasons(self.assert_same([program])), {})

    def test_a_set_user_id_program_of_ones_own_is_sampled(self):
        program = self.build_text("own_setuid", BURN)
        os.chmod(program, 0o4755)
        self.assert_sampled(self.assert_same([program]), "main")

    def test_a_program_that_may_not_be_read(self):
        if os.geteuid() != 0:
            self.skipTest("only root can hide a file from another user")
        program = self.build_text("hidden", BURN)
        os.chmod(program, 0o711)
        recording = self.assert_same([program], launcher=SET_PRIVILEGES)
        self.assertEqual(len(self.reasons(recording)), 1)

    def test_what_an_unentered_program_starts_is_named_and_runs(self):
        program = self.build_text("shell", """
            #include <stdlib.h>
            int main(void)
            {
                return system("i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; env | grep -c FATHOM; exit 4");
            }""", "-static")
        recording = self.assert_same([program])
        self.assertEqual(self.reasons(recording)["shell"], {"statically linked"})
        self.assertEqual(self.reasons(recording)["sh"], {"started by a program that was not entered"})
        self.assert_explained(recording, within=0.1, slack_ns=5_000_000)

    def test_scripts_are_what_their_interpreters_are(self):
        static = self.build_text("interpreter", BURN, "-static")
        dynamic = self.build_text("entered", BURN)
        for name, interpreter, reasons in (("one", static, {"one": {"statically linked"}}),
                                           ("other", dynamic, {})):
            path = os.path.join(self.built, name)
            with open(path, "w") as file:
                file.write(f"#! {interpreter} -x\nno program\n")
            os.chmod(path, 0o755)
            with self.subTest(name):
                self.assertEqual(self.reasons(self.assert_same([path])), reasons)


GO_MAIN = """
package main

%s
import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
)

func main() {
	all := make(chan os.Signal, 100)
	signal.Notify(all)
	x := uint64(1)
	for i := 0; i < 300000000; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	out, err := exec.Command("/bin/sh", "-c", "echo child; env | grep -c FATHOM").Output()
	fmt.Println(x, string(out), err != nil)
	os.Exit(3)
}
"""
GO_LIBRARY = """
package main

import "C"
import (
	"os/exec"
	"sync"
)

func work(n int) uint64 {
	x := uint64(n)
	for i := 0; i < n; i++ {
		x = x*6364136223846793005 + 1442695040888963407
		if i%100000 == 0 {
			_ = make([]byte, 100000)
		}
	}
	return x
}

//export Burn
func Burn(n C.int) C.ulong {
	var group sync.WaitGroup
	sums := make([]uint64, 4)
	for i := range sums {
		group.Add(1)
		go func(i int) { defer group.Done(); sums[i] = work(int(n) + i) }(i)
	}
	group.Wait()
	return C.ulong(sums[0] + sums[1] + sums[2] + sums[3])
}

//export Start
func Start() C.int {
	out, err := exec.Command("/bin/echo", "child").Output()
	if err != nil {
		return -1
	}
	return C.int(len(out))
}

func main() {}
"""
GO_USER = """
#include <dlfcn.h>
#include <stdio.h>
#ifdef NAME
static unsigned long (*Burn)(int);
static int (*Start)(void);
#else
unsigned long Burn(int);
int Start(void);
#endif
int main(void)
{
#ifdef NAME
	void *handle = dlopen(NAME, RTLD_NOW);
	if (handle == NULL)
		return 1;
	Burn = dlsym(handle, "Burn");
	Start = dlsym(handle, "Start");
#endif
	for (int i = 0; i < 3; i++)
		printf("%lu %d\\n", Burn(5000000), Start());
	return 3;
}
"""
IS_GO = "a Go program: it takes signals by raw system calls"


class Go(ProgramsTest):

    def build_go(self, name, text, *options, cgo=True):
        path = os.path.join(self.built, name)
        if not os.path.exists(path):
            self.need("go")
            folder = os.path.join(self.built, "source-" + name)
            os.mkdir(folder)
            with open(os.path.join(folder, "main.go"), "w") as file:
                file.write(text)
            with open(os.path.join(folder, "go.mod"), "w") as file:
                file.write("module example\ngo 1.18\n")
            done = subprocess.run(["go", "build", *options, "-o", path, "."], cwd=folder, capture_output=True,
                                  env={**os.environ, "CGO_ENABLED": "1" if cgo else "0"}, timeout=600)
            if done.returncode != 0:
                self.skipTest(f"go cannot build {name}: {done.stderr.decode(errors='replace')[-200:]}")
        return path

    def assert_go_runs(self, program, reason):
        for trigger in TRIGGERS:
            with self.subTest(os.path.basename(program), trigger=trigger):
                recording = self.assert_same([program], "--trigger", trigger, runs=5)
                self.assertIn(reason, self.reasons(recording)[os.path.basename(program)])
                if trigger == "sigtrap":
                    self.assertGreater(recording.head()["unentered_ns"], 0.8 * recording.total_ns())

    def test_a_pure_go_program(self):
        self.assert_go_runs(self.build_go("pure", GO_MAIN % "", cgo=False), "statically linked")

    def test_a_go_program_with_cgo(self):
        self.assert_go_runs(self.build_go("cgo", GO_MAIN % 'import "C"'), IS_GO)

    def test_a_go_program_without_its_note(self):
        self.assert_go_runs(self.build_go("bare", GO_MAIN % 'import "C"', "-ldflags=-buildid="), IS_GO)

    def test_a_program_with_go_in_a_library(self):
        library = self.build_go("libgo.so", GO_LIBRARY, "-buildmode=c-shared")
        programs = {"at_once": self.build_text("at_once", GO_USER, library),
                    "later": self.build_text("later", GO_USER, f'-DNAME="{library}"')}
        for name, program in programs.items():
            for trigger in TRIGGERS:
                with self.subTest(name, trigger=trigger):
                    recording = self.assert_same([program], "--trigger", trigger, runs=5)
                    self.assert_sampled(recording, "main.work")


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

    def test_a_sanitized_program_runs_as_without_us_and_is_sampled(self):
        for build in self.BUILDS:
            for trigger in TRIGGERS:
                with self.subTest(build=build[:3], trigger=trigger):
                    program = self.build_with("busy.c", *build)
                    recording = self.assert_same([program, "100"], "--trigger", trigger, change=without_passing)
                    if self.is_sampled(*build, recording):
                        self.assert_sampled(recording, "busy_work", least=0.05)

    def test_what_sanitizers_report_is_the_same(self):
        faults = {"address": ("overflow", "leak"), "thread": ("race",), "leak": ("leak",),
                  "undefined": ("undefined",)}
        for build in self.BUILDS:
            for fault in faults[build[1]]:
                for trigger in TRIGGERS:
                    with self.subTest(build=build[:3], fault=fault, trigger=trigger):
                        program = self.build_with("faulty.c", *build)
                        recording = self.assert_same([program, fault], "--trigger", trigger,
                                                     change=without_order if fault == "race" else without_passing)
                        if self.is_sampled(*build, recording):
                            self.assert_sampled(recording, "spin", least=0.1)

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

    def assert_entered(self, program, trigger, options):
        recording = self.assert_same([program, "300"], "--trigger", trigger, runs=3, **options)
        self.assertEqual(self.reasons(recording), {})
        self.assert_sampled(recording, "busy_work", least=0.2)

    def assert_runs(self, program, **options):
        for trigger in TRIGGERS:
            with self.subTest(trigger=trigger):
                # Where the machine is busy, a recorder may be too late to answer.
                live.at_second_sight(self.id(), self.assert_entered, program, trigger, options)

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
        recording = self.assert_same([self.build("before", "busy.c", "interposing.c")], runs=3)
        self.assert_sampled(recording, "busy_work", least=0.2)

    def test_a_preloaded_library_that_does(self):
        library = self.build("libinterposing.so", "interposing.c", flags=["-shared", "-fPIC"])
        program = self.build("plain", "busy.c")
        # By env(1), for fathom itself would say how often it called.
        recording = self.assert_same(["env", "LD_PRELOAD=" + library, program], runs=3)
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
                                                 "--trigger", trigger, runs=10,
                                                 change=lambda text: text.replace(b"default 0", b"default 1"))
                    self.assertEqual(self.reasons(recording), {"host": {"it loaded a second C library (dlmopen)"}})

    def test_plugins_are_found_by_the_programs_runpath(self):
        self.plugin()
        program = self.host("-Wl,-rpath,$ORIGIN", "-Wl,--enable-new-dtags", name="origin")
        for way in ("dlopen", "deepbind", "dlmopen"):
            with self.subTest(way):
                self.assert_same([program, way, "libplugin.so", str(int(signal.SIGUSR1))])

    def test_a_program_that_ld_so_is_told_to_start(self):
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
        for flags in (["-Wl,-z,lazy"], ["-Wl,-z,now"], ["-no-pie"], ["-no-pie", "-Wl,-z,norelro"],
                      ["-Wl,--hash-style=sysv"], ["-Wl,-z,max-page-size=2097152"]):
            program = self.build("busy" + "".join(flags).replace("/", ""), "busy.c", flags=flags)
            for settings in ({}, {"LD_BIND_NOW": "1"}):
                with self.subTest(flags=flags, settings=settings):
                    self.assert_sampled(self.assert_same([program], env={**os.environ, **settings}),
                                        "busy_work", least=0.2)

    def test_an_auditor(self):
        auditor = self.build("libaudit.so", "audit.c", flags=["-shared", "-fPIC"])
        recording = self.assert_same([self.build("plain", "busy.c")], runs=3,
                                     env={**os.environ, "LD_AUDIT": auditor})
        self.assert_sampled(recording, "busy_work", least=0.2)

    def test_what_ld_so_tells_of_itself_is_left_to_it(self):
        program = self.build_text("burn", BURN)
        self.assert_same([program], env={**os.environ, "LD_DEBUG": "help"})


class Elsewhere(ProgramsTest):
    """Where our files or our socket are not: nobody says a word."""

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
        recording = self.assert_same(["chroot", self.chroot(), "/bin/sh", "-c", script])
        self.assertEqual(list(self.reasons(recording)), ["sh"])

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
