"""Programs that cannot be entered, or only in part, run as without us, and are named."""

import os
import shutil
import subprocess

import live
from live import ORDINARY_USER
from live_programs import BURN as LONG_BURN, SET_PRIVILEGES, TRIGGERS, ProgramsTest

PRIVILEGED = ("set-user-ID, set-group-ID or with file capabilities: where those are root's rights, 'sudo fathom record'"
              " samples it, and what it starts")
# With a trigger that was asked for, what no agent is in is counted and not sampled.
COUNTED = ("--trigger", "timer")
# Go's runtime has threads of its own before main() begins: each start may be another.
GO_RUNS = 5 if live.IS_LONG else 2
# Longer than the recorder's rounds, so that it is looked at.
BURN = LONG_BURN.replace("100000000", "60000000")
# As BURN, without a libc, which a machine may not have for 32 bits.
BURN_BY_HAND = """
.globl _start
_start:
	mov $150000000, %ecx
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
        self.assert_named([program], "a 32-bit program", *COUNTED)

    def test_32_bit_programs_that_ld_so_starts(self):
        program = self.build_text("small", BURN, "-m32")
        self.assert_named([program], "a 32-bit program", *COUNTED)

    def test_programs_of_musl(self):
        program = self.build_text("musl", BURN, compiler="musl-gcc")
        self.assert_named([program], "linked with musl, not glibc", *COUNTED)

    def test_programs_with_a_loader_of_their_own(self):
        loader = os.path.join(self.built, "ld-own.so.2")
        usual = "/lib64/ld-linux-x86-64.so.2"
        if not os.path.exists(usual):
            self.skipTest(f"this machine has no {usual}")
        shutil.copy(usual, loader)
        program = self.build_text("own_loader", BURN, f"-Wl,--dynamic-linker={loader}")
        self.assert_named([program], "started by another dynamic loader than ours", *COUNTED)

    def test_set_user_id_programs(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make a set-user-ID program of another user")
        self.need("setpriv")
        program = self.build_text("setuid", BURN)
        os.chmod(program, 0o4755)
        self.assert_named([program], PRIVILEGED,
                          launcher=SET_PRIVILEGES)

    def test_what_a_set_group_id_program_burns_is_charged_once(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make a set-group-ID program of another group")
        program = self.build_text("setgid", BURN)
        os.chown(program, 0, ORDINARY_USER)
        os.chmod(program, 0o2755)
        recording = self.assert_named([program], PRIVILEGED)
        self.assert_explained(recording, within=0.1, slack_ns=5_000_000)

    def test_set_group_id_programs_that_end_at_once_have_their_reason(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make a set-group-ID program of another group")
        program = self.build_text("short", "int main(void) { return 0; }")
        os.chown(program, 0, ORDINARY_USER)
        os.chmod(program, 0o2755)
        recording = self.assert_same(["sh", "-c", f"for i in 1 2 3 4 5; do {program}; done"])
        self.assertEqual(self.reasons(recording),
                         {"short": {PRIVILEGED}})

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
        recording = self.assert_named([program], "statically linked", *COUNTED)
        self.assert_explained(recording, within=0.1, slack_ns=5_000_000)

    def test_children_past_fork_are_sampled(self):
        program = self.build_text("raw", """
            #include <signal.h>
            #include <stdio.h>
            #include <sys/syscall.h>
            #include <sys/wait.h>
            #include <time.h>
            #include <unistd.h>
            __attribute__((noinline)) static void burn_in_child(void)
            {
                /* Several of the recorder's rounds, in the first of which it is found. */
                while (clock() < CLOCKS_PER_SEC * 4 / 10)
                    for (volatile long i = 0; i < 1000000; i++)
                        ;
            }
            int main(void)
            {
                int status = 0;
                pid_t child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

                if (child == 0) {
                    burn_in_child();
                    _exit(3);
                }
                waitpid(child, &status, 0);
                return WEXITSTATUS(status);
            }""")
        recording = self.assert_same([program])
        if recording.head()["trigger"] != "sigtrap":
            self.skipTest(f"no stacks can be copied: {recording.head()['trigger_why']}")
        self.assert_sampled(recording, "burn_in_child", least=0.6)
        self.assert_explained(recording, within=0.1, slack_ns=5_000_000)

    def test_programs_with_file_capabilities(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give a program capabilities")
        program = self.build_text("capable", BURN)
        if subprocess.run([self.need("setcap"), "cap_net_raw+ep", program]).returncode != 0:
            self.skipTest("this file system keeps no capabilities")
        self.assert_named([program], PRIVILEGED,
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
        recording = self.assert_same([program], *COUNTED)
        self.assertEqual(self.reasons(recording)["shell"], {"statically linked"})
        self.assertEqual(self.reasons(recording)["sh"], {"started by shell, which was not entered: let that run fathom record"})
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
                self.assertEqual(self.reasons(self.assert_same([path], *COUNTED)), reasons)


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
	for i := 0; i < 150000000; i++ {
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
// For a library each package is compiled anew, so these are few.
import (
	"sync"
	"syscall"
)

// Go 1.19 has debug information for parts of an inlined call only.
//go:noinline
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
	child, err := syscall.ForkExec("/bin/true", []string{"true"}, &syscall.ProcAttr{})
	if err != nil {
		return -1
	}
	var status syscall.WaitStatus
	syscall.Wait4(child, &status, 0, nil)
	return C.int(status.ExitStatus())
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
	/* Enough for a hundred ticks, where timers trap at those. */
	for (int i = 0; i < 3; i++)
		printf("%lu %d\\n", Burn(20000000), Start());
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
                recording = self.assert_same([program], "--trigger", trigger, runs=GO_RUNS)
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
                    recording = self.assert_same([program], "--trigger", trigger, runs=GO_RUNS)
                    self.assert_sampled(recording, "main.work")


if __name__ == "__main__":
    live.main()
