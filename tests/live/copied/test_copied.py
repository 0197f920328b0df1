"""Copied stacks: what no agent can be in, or is to be in, is sampled from outside, and the account holds."""

import os
import re
import subprocess

import live
from live import workload
from live_programs import ProgramsTest

BY_COPIES = ("--trigger", "copied")
# Two functions of known shares, which print what they burned as workloads do.  What the kernel does in
# between is in their totals: where it may be seen, it has rows of its own.
SHARES = """
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
static volatile uint64_t sink;
static uint64_t cpu_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
__attribute__((noinline)) static void one(uint64_t n)
{
	while (n--)
		sink = sink * 6364136223846793005u + 1442695040888963407u;
}
__attribute__((noinline)) static void three(uint64_t n)
{
	while (n--)
		sink = sink * 2862933555777941757u + 3037000493u;
}
static uint64_t ones, threes;
static void *work(void *unused)
{
	uint64_t begin = cpu_ns(), last = begin;
	while (last - begin < 800000000u) {
		uint64_t now;
		one(80000);
		now = cpu_ns();
		ones += now - last;
		last = now;
		three(240000);
		now = cpu_ns();
		threes += now - last;
		last = now;
	}
	return unused;
}
int main(void)
{
#ifdef THREAD
	pthread_t thread;
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
#else
	work(NULL);
#endif
	printf("{\\"cpu_ns\\": %llu, \\"processes\\": {}, \\"self\\": {}, \\"total\\": {\\"one\\": %llu, \\"three\\": %llu}}\\n",
	       (unsigned long long)(ones + threes), (unsigned long long)ones, (unsigned long long)threes);
	return 0;
}
"""
# Two chains of calls, each deeper than a copy, in turns: whatever has functions of both is wrong.  Each stands
# for so many microseconds of CPU time, whatever the processor's speed.
CHAINS = """
#include <stdlib.h>
#include <time.h>
static volatile unsigned long sink;
static long turns = 5000000;
static double cpu(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}
static inline void turn(void)
{
	for (long i = 0; i < turns; i++)
		sink += (unsigned long)i;
}
__attribute__((noinline)) static void burn(void)
{
	turn();
}
#define CHAIN(name)                                           \\
	__attribute__((noinline)) static int name(int depth)  \\
	{                                                     \\
		volatile char pad[160];                       \\
		pad[0] = (char)depth;                         \\
		if (depth == 0) {                             \\
			burn();                               \\
			return 1;                             \\
		}                                             \\
		return name(depth - 1) + pad[0];              \\
	}
CHAIN(left)
CHAIN(right)
int main(int argc, char **argv)
{
	double begin = cpu();
	turn();
	turns = (long)((double)turns * atof(argv[1]) / 1e6 / (cpu() - begin));
	double until = cpu() + 0.8;
	while (cpu() < until)
		sink += (unsigned long)(left(argc + 200) + right(argc + 230));
	return 0;
}
"""
# The outermost functions are beyond a frame that is larger than a copy; in libuv's event loop, too, most of it
# is never written to, where a copy ends.  burn() reads the clock itself: the kernel sees in that call that others
# are to have the processor, and where a loop made it, the stack that is read meanwhile would not be the sample's.
LOOP = """
#include <time.h>
static volatile unsigned long sink;
__attribute__((noipa)) static long burn(void)
{
	struct timespec now;

	for (int i = 0; i < 100000; i++)
		sink += (unsigned long)i;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec;
}
__attribute__((noipa)) static int event_loop(void)
{
	volatile char events[20000];

	while (burn() < 1)
		events[sink % sizeof events] = 1;
	return events[0];
}
__attribute__((noipa)) static int run(void)
{
	return event_loop() + 1;
}
/* It is in no stack: it ends in a jump to run(). */
__attribute__((noipa)) static int prepare_and_run(void)
{
	sink++;
	return run();
}
int main(void)
{
	return prepare_and_run() == 0;
}
"""
SORTS = """
#include <stdlib.h>
static volatile unsigned long sink;
__attribute__((noipa)) static void burn(int n)
{
	for (int i = 0; i < n; i++)
		sink += (unsigned long)i;
}
__attribute__((noipa)) static int down(int n)
{
	if (n == 1)
		burn(1000000);
	return n == 1 ? 1 : down(n - 1) + n;
}
static int compare(const void *a, const void *b)
{
	burn(3000);
	return *(const int *)a - *(const int *)b;
}
__attribute__((noipa)) static int work(void)
{
	int numbers[100];
	for (int i = 0; i < 100; i++)
		numbers[i] = i * 7919 % 1009;
	qsort(numbers, 100, sizeof *numbers, compare);
	return down(10) + numbers[99];
}
int main(void)
{
	for (int i = 0; i < 300; i++)
		sink += (unsigned long)work();
	return 0;
}
"""
GO_SHARES = """
package main

import (
	"fmt"
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

var sink uint64

//go:noinline
func one(n int) {
	for i := 0; i < n; i++ {
		sink = sink*6364136223846793005 + 1442695040888963407
	}
}

//go:noinline
func three(n int) {
	for i := 0; i < n; i++ {
		sink = sink*2862933555777941757 + 3037000493
	}
}

func cpu(clock uintptr) uint64 {
	var now syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&now)), 0)
	return uint64(now.Nano())
}

func work(done chan [2]uint64) {
	runtime.LockOSThread()
	var spent [2]uint64
	begin := cpu(3)
	for last := begin; last-begin < 800000000; {
		one(80000)
		now := cpu(3)
		spent[0] += now - last
		last = now
		three(240000)
		now = cpu(3)
		spent[1] += now - last
		last = now
	}
	done <- spent
}

func main() {
	done := make(chan [2]uint64)
	go work(done)
	spent := <-done
	time.Sleep(time.Millisecond)
	fmt.Printf("{\\"cpu_ns\\": %d, \\"processes\\": {}, \\"self\\": {}, \\"total\\": {\\"main.one\\": %d, \\"main.three\\": %d}}\\n",
		cpu(2), spent[0], spent[1])
}
"""

# For 1.2 s of CPU time.
BURN = """
#include <stdint.h>
#include <time.h>
int main(void)
{
	static volatile uint64_t sink;
	struct timespec now = { 0 };
	while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < 1200) {
		for (int i = 0; i < 100000; i++)
			sink = sink * 6364136223846793005u + 1442695040888963407u;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	}
	return 0;
}
"""


class CopiedTest(ProgramsTest):
    compares_times = True

    def assert_copied(self, recording, begins=None, least_samples=2000):
        """Its trigger, its account, its stacks, and what it says of itself."""
        head = recording.head()
        self.assertEqual(head["trigger"], "copied")
        self.assert_adds_up(recording)
        self.assert_explained(recording, slack_ns=1_000_000)
        self.assertEqual(head["unentered_ns"] or 0, 0)
        stacks = head["stacks"]
        whole = stacks.get("complete", 0) + stacks.get("switched", 0)
        self.assertGreaterEqual(whole, 0.99 * sum(stacks.values()), stacks)
        if begins:
            names = recording.functions_of_stacks()
            for stack, count in recording.rows("SELECT stack, count(*) FROM samples WHERE ending = 0 GROUP BY stack"):
                self.assertRegex(names[stack][-1], begins, f"{count} samples")
        self.assert_truth(recording, least_samples, may_be_unseen=True)


class Truth(CopiedTest):
    def test_a_static_program(self):
        for name, flags in (("static", ["-static"]), ("static_pie", ["-static-pie", "-fPIE"])):
            with self.subTest(name):
                program = self.build_text(name, SHARES, "-O2", "-pthread", *flags)
                self.assert_copied(self.record([program]), r"^_start$")

    def test_a_thread_of_a_static_program(self):
        program = self.build_text("threaded", SHARES, "-O2", "-DTHREAD", "-pthread", "-static")
        self.assert_copied(self.record([program]), r"^(_start|(__)?clone3?|start_thread)$")

    def test_an_ordinary_user(self):
        program = self.build_text("static", SHARES, "-O2", "-pthread", "-static")
        self.assert_copied(self.record_as_user([program]), r"^_start$")

    def test_a_program_of_musl(self):
        builds = [("musl", []), ("musl_thread", ["-static", "-DTHREAD", "-pthread"])]
        for name, flags in builds + ([("musl_static", ["-static"])] if live.IS_LONG else []):
            with self.subTest(name):
                program = self.build_text(name, SHARES, "-O2", *flags, compiler="musl-gcc")
                self.assert_copied(self.record([program]))

    def test_a_program_of_go(self):
        self.need("go")
        for name, flags in (("go", []), ("go_stripped", ["-ldflags=-s -w"])):
            folder = os.path.join(self.built, "source-" + name)
            os.makedirs(folder, exist_ok=True)
            for file, text in (("main.go", GO_SHARES), ("go.mod", "module example\ngo 1.18\n")):
                with open(os.path.join(folder, file), "w", encoding="utf-8") as source:
                    source.write(text)
            program = os.path.join(self.built, name)
            done = subprocess.run(["go", "build", *flags, "-o", program, "."], cwd=folder, capture_output=True,
                                  env={**os.environ, "CGO_ENABLED": "0"}, timeout=600)
            if done.returncode != 0:
                self.skipTest(f"go cannot build it: {done.stderr.decode(errors='replace')[-200:]}")
            with self.subTest(name):
                recording = self.record([program])
                if name == "go":
                    self.assert_copied(recording)
                    continue
                stacks = recording.head()["stacks"]
                self.assertGreaterEqual(stacks.get("complete", 0) + stacks.get("switched", 0),
                                        0.99 * sum(stacks.values()), "Go's own table is in stripped programs, too")

    def test_a_dynamic_program_that_nothing_is_put_into(self):
        for name in ("thirds", "recursion", "one_two_five") if live.IS_LONG else ("recursion", "one_two_five"):
            with self.subTest(name):
                recording = self.record_as_user(workload(name), *BY_COPIES)
                self.assertEqual(recording.head()["trigger"], "copied")
                self.assert_truth(recording, may_be_unseen=True)
                self.assert_whole_stacks(recording)

    def test_its_environment_is_its_own(self):
        program = self.build_text("printed", "#include <stdio.h>\nextern char **environ;\n"
                                  "int main(void) { for (char **e = environ; *e; e++) puts(*e); return 0; }")
        bare = subprocess.run([program], capture_output=True, check=True).stdout
        self.assertEqual(self.record([program], *BY_COPIES).run.stdout, bare)
        maps = self.record(["cat", "/proc/self/maps"], *BY_COPIES).run.stdout
        self.assertNotIn(b"fathom", maps)


class Deeper(CopiedTest):
    """Stacks that are deeper than the copy: continued where both checks hold, else cut; never another's."""

    def chains(self, stands_us):
        program = self.build_text("chains", CHAINS, "-O1", "-fno-optimize-sibling-calls")
        recording = self.record([program, str(stands_us)], *BY_COPIES, rate=2000)
        functions = recording.functions_of_stacks()
        whole = cut = 0
        for stack, ending, count in recording.rows("SELECT stack, ending, count(*) FROM samples GROUP BY stack, ending"):
            names = [name for name in functions[stack] if name in ("left", "right")]
            self.assertLessEqual(len(set(names)), 1, functions[stack])
            if ending == 0 and "burn" in functions[stack]:
                self.assertIn(names.count("left") + names.count("right"), (203, 233), functions[stack][-3:])
                whole += count
            elif "burn" in functions[stack]:
                cut += count
        self.assertGreater(whole + cut, 500)
        return whole / (whole + cut)

    def test_a_stack_that_stands_is_read_to_its_end(self):
        # What is cut was read after its chain had ended: a sixth, where samples are taken in each 4 ms, and two
        # fifths where the recorder waits for more of them.  It comes too late to more where it has to wait itself.
        whole = self.chains(25000)
        for _ in range(2):
            whole = whole if whole > 0.75 else self.chains(25000)
        self.assertGreater(whole, 0.75)

    def test_a_frame_that_is_larger_than_the_copy_does_not_end_it(self):
        program = self.build_text("loop", LOOP, "-O2")
        recording = self.record([program], *BY_COPIES, rate=2000)
        functions = recording.functions_of_stacks()
        whole = all_of_them = 0
        for stack, ending, count in recording.rows("SELECT stack, ending, count(*) FROM samples GROUP BY stack, ending"):
            if "burn" in functions[stack]:
                all_of_them += count
                whole += count if ending == 0 and "run" in functions[stack] else 0
        self.assertGreater(all_of_them, 500)
        self.assertGreater(whole / all_of_them, 0.8)

    def test_a_stack_that_changes_all_the_time_is_right_or_cut(self):
        for stands_us in (3, 30, 300):
            with self.subTest(stands_us):
                self.chains(stands_us)


class Interpreters(CopiedTest):
    def test_a_program_of_python_has_native_frames_and_says_what_would_help(self):
        python = self.need("/usr/bin/python3")
        recording = self.record([python, "-c", "sum(i * i for i in range(3000000))"], *BY_COPIES, rate=1000)
        self.assert_adds_up(recording)
        interpreters = recording.rows("SELECT language, why_not FROM interpreters")
        self.assertEqual(len(interpreters), 1, interpreters)
        self.assertIn("native frames only", interpreters[0][1])
        self.assertTrue(any("no Python functions" in note for note in recording.head()["notes"]), recording.head()["notes"])


class ThirtyTwo(CopiedTest):
    """Stacks of 32-bit programs are whole, and each is one that the program has."""

    def assert_whole(self, program, calls):
        """calls: the stacks around burn(), outermost function first."""
        tiny = self.build_text("tiny", "int main(void) { return 0; }", "-m32", "-static")
        if subprocess.run([tiny], stdin=subprocess.DEVNULL, capture_output=True).returncode != 0:
            self.skipTest("this kernel executes no 32-bit programs")
        recording = self.record([program], rate=2000)
        self.assert_adds_up(recording)
        functions = recording.functions_of_stacks()
        found = dict.fromkeys(calls, 0)
        own = {name for stack in calls for name in stack}
        samples = recording.rows("SELECT stack, ending, count(*) FROM samples WHERE ending != 16 GROUP BY stack, ending")
        for stack, ending, count in samples:
            if ending == 0 and "burn" in functions[stack]:
                names = tuple(name for name in reversed(functions[stack]) if name in own)
                self.assertIn(names, found)
                found[names] += count
        for stack, count in found.items():
            self.assertGreater(count, 20, stack)
        every = sum(count for _, _, count in samples)
        self.assertGreaterEqual(sum(count for _, ending, count in samples if ending == 0) / every, 0.99, samples)

    def test_a_program_without_a_c_library(self):
        program = self.build("thirty_two_calls", "thirty_two_calls.c", flags=("-m32", "-nostdlib", "-static", "-fno-pic"))
        self.assert_whole(program, [("_start", "run", *between, "burn") for between in
                                    (("middle",), ("realigned",), ("sized",), ("deep",) * 101, ("handler",))])

    def test_programs_of_glibc(self):
        for flags in (("-O1",), ("-O0", "-static"), ("-O1", "-fno-pie", "-no-pie", "-static")):
            with self.subTest(flags):
                program = self.build_text("sorts" + "".join(flags), SORTS, "-m32", *flags)
                self.assert_whole(program, [("main", "work", "compare", "burn"), ("main", "work", *("down",) * 10, "burn")])


class Beside(CopiedTest):
    """A tree in which some processes have an agent, and some copied stacks: none is booked twice."""

    def test_a_static_program_that_a_shell_starts(self):
        program = self.build_text("static", SHARES, "-O2", "-pthread", "-static")
        recording = self.record(["sh", "-c", f"i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; {program}"])
        self.assert_adds_up(recording)
        self.assert_explained(recording, slack_ns=2_000_000)
        if recording.head()["trigger"] != "sigtrap":
            self.skipTest("perf events are refused: nothing is copied")
        for name in ("sh", "static"):
            (sampled,) = recording.rows("SELECT sum(s.weight_ns), count(*) FROM samples s JOIN threads t ON t.id = s.thread"
                                        " JOIN processes p ON p.id = t.process WHERE p.name = ?", name)
            self.assertGreater(sampled[1], 100, name)
        self.assertGreater(recording.time_of("three", "self_ns"), recording.time_of("one", "self_ns"))

    def test_a_static_program_beside_one_that_is_changed_to_timers(self):
        """For that the tree's events are closed."""
        program = self.build_text("burner", BURN, "-O2", "-static")
        switches = " ".join(map(str, workload("switches", "threads", 700)))
        recording = self.record(["sh", "-c", f"{program} & {switches}; wait"], rate=1000)
        self.assert_adds_up(recording)
        changes = [note for note in recording.head()["notes"] if "sampled by timers since" in note]
        if not changes:
            self.skipTest("nothing was changed: perf events are refused, or switches are hardly dearer with them")
        (sampled_ns,) = recording.rows("SELECT sum(coalesce(s.weight_ns, p.period_ns)) FROM samples s JOIN threads t "
                                       "ON t.id = s.thread JOIN processes p ON p.id = t.process "
                                       "WHERE p.name = 'burner' AND s.ending != 16")[0]
        self.assertAlmostEqual(sampled_ns / 1.2e9, 1, delta=0.1)

    def test_many_short_static_programs_are_charged_once(self):
        program = self.build_text("short", "int main(void) { for (volatile int i = 0; i < 2000000; i++); return 0; }", "-static")
        recording = self.record(["sh", "-c", f"for i in $(seq 60); do {program}; done"])
        self.assert_adds_up(recording)
        self.assert_explained(recording, within=0.05, slack_ns=5_000_000)


class Kernel(CopiedTest):
    def test_the_kernels_functions_have_names(self):
        if os.geteuid() != 0:
            self.skipTest("only root samples the kernel here")
        with open("/proc/kallsyms", encoding="ascii", errors="replace") as symbols:
            has_addresses = any(re.match(r"0*[1-9a-f]", line) for line in symbols)
        if not has_addresses:
            self.skipTest("kernel.kptr_restrict hides the kernel's addresses")
        for command, name in ((["dd", "if=/dev/zero", "of=/dev/null", "bs=64k", "count=20000"], r"read.*zero|clear_user"),
                              (["find", "/usr/share", "-size", "+1000000k"], r"getdents|statx?|stat64")):
            with self.subTest(command[0]):
                self.need(command[0])
                recording = self.record(command, *BY_COPIES, expect=None)
                functions = recording.report()["functions"]
                kernel = [row for row in functions if row["language"] == "kernel"]
                self.assertTrue(any(re.search(name, row["name"]) for row in kernel), [row["name"] for row in kernel][:40])
                self.assert_adds_up(recording)


if __name__ == "__main__":
    live.main()
