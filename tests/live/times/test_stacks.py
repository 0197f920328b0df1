"""Stacks of every kind are walked, and none is written over: small, alternate, and those that go."""

import os
import re
import resource
import struct
import subprocess

import live
from live import WORKLOADS, LiveTest, truth_of, workload

OVERFLOWS = 300 if live.IS_LONG else 60
UNWINDING = 17 # why a walk ended: src/abi/walk_status.h


class MemoryThatGoes(LiveTest):

    def test_no_program_dies_of_memory_that_goes_while_it_is_read(self):
        command = workload("unmapping", WORKLOADS, 500)
        bare = subprocess.run(command, capture_output=True, timeout=300)
        self.assertEqual(bare.returncode, 0, bare.stderr)
        for _ in range(3 if live.IS_LONG else 1):
            recording = self.record(command, rate=20000)
            self.assertEqual(recording.truth["counts"], {"turns": 500})
            self.assertGreater(recording.head()["samples"], 1000)
            self.assert_walked_in_what_is_opened_and_closed(recording)

    def test_an_ordinary_user_does_not_die_of_it_either(self):
        recording = self.record_as_user(workload("unmapping", WORKLOADS, 500), rate=20000)
        self.assertEqual(recording.truth["counts"], {"turns": 500})

    def assert_walked_in_what_is_opened_and_closed(self, recording):
        stacks = recording.functions_of_stacks()
        ends = [ending for stack, ending in recording.rows("SELECT stack, ending FROM samples")
                if stacks[stack][:1] in (["first_work"], ["second_work"])]
        self.assertGreater(len(ends), 200)
        self.assertGreater(ends.count(0) / len(ends), 0.99)

    def test_closing_libraries_in_a_loop_does_not_flood_the_recorder(self):
        """Without perf events it reads the mappings from /proc."""
        self.need("strace")
        calls = self.path("calls")
        done = subprocess.run(["strace", "-o", calls, "true"], capture_output=True, timeout=300)
        if done.returncode != 0:
            self.skipTest("this machine lets no process be traced")
        self.record(workload("closing", WORKLOADS, 3000), rate=1000,
                    launcher=("strace", "-f", "-qqo", calls, "-e", "trace=openat", *workload("without_perf")))
        with open(calls) as file:
            readings = sum(1 for line in file if re.search(r'"/proc/\d+/maps"', line))
        self.assertGreater(readings, 0)
        self.assertLess(readings, 1500)

    def test_a_library_may_have_its_program_headers_at_its_end(self):
        """As BOLT leaves them."""
        with open(workload("libplt_library.so")[0], "rb") as file:
            image = bytearray(file.read())
        begin, = struct.unpack_from("<Q", image, 32)
        size, count = struct.unpack_from("<HH", image, 54)
        headers = image[begin:begin + size * count]
        image[begin:begin + size * count] = bytes(size * count)
        image += bytes(-len(image) % 8 + 8192)
        struct.pack_into("<Q", image, 32, len(image))
        with open(self.path("libplt_library.so"), "wb") as file:
            file.write(image + headers)
        recording = self.record(workload("plt"), env={**os.environ, "LD_LIBRARY_PATH": self.folder})
        paths = [path for path, in recording.rows("SELECT path FROM modules")]
        self.assertIn(self.path("libplt_library.so"), paths)
        self.assertNotIn("no_module", recording.head()["stacks"])

    def tally_of_many_rules(self, *arguments):
        if os.uname().machine != "x86_64":
            self.skipTest("its library is x86-64's assembler")
        return self.record(workload("many_rules", WORKLOADS, *arguments), rate=2000).head()["stacks"]

    def test_the_rules_of_a_chain_in_a_large_opened_library_are_found_in_one_walk(self):
        tally = self.tally_of_many_rules()
        self.assertGreater(tally["complete"], 0.99 * sum(tally.values()), tally)
        self.assertNotIn("read_limit", tally)

    def test_a_rule_that_one_walk_read_too_much_to_find_is_found_by_the_next(self):
        tally = self.tally_of_many_rules("joined")
        self.assertGreater(tally["read_limit"], 0, tally)
        self.assertGreater(tally["complete"], 0.9 * sum(tally.values()), tally)
        self.assertNotIn("no_rule", tally)

    def test_behind_a_filter_a_walk_that_would_need_a_call_ends_and_says_so(self):
        bare = subprocess.run(workload("small_stacks", "filtered"), capture_output=True, timeout=300)
        if bare.returncode == 77:
            self.skipTest("this machine has no seccomp filters")
        recording = self.record(workload("small_stacks", "filtered"))
        tally = recording.head()["stacks"]
        self.assertGreater(tally.get("forbidden", 0), 0.9 * sum(tally.values()), tally)
        stacks = [stack for stack in recording.functions_of_stacks().values() if "filtered_work" in stack]
        self.assertGreater(max(stack.count("filtered_work") for stack in stacks), 1)


class Exceptions(LiveTest):

    def test_a_stack_through_which_one_is_thrown_has_its_callers_or_says_that_it_was(self):
        """In libgcc's functions that go to a landing pad the frame is replaced bit by bit."""
        recording = self.record(workload("exceptions"), rate=20000)
        stacks = recording.functions_of_stacks()
        thrown = [(stacks[stack], ending) for stack, ending in recording.rows("SELECT stack, ending FROM samples")
                  if any(name.startswith("_Unwind_R") for name in stacks[stack])]
        self.assertGreater(len(thrown), 1000)
        self.assertEqual({ending for _, ending in thrown} - {0, UNWINDING}, set())
        self.assertLess(sum(ending != 0 for _, ending in thrown) / len(thrown), 0.01)
        for stack, ending in thrown:
            if ending == 0:
                names = [name.split("(")[0] for name in stack]
                at = names.index("workload::throwing")
                self.assertEqual(names[at + 1], "main", stack)
                self.assertEqual([name for name in names[:at] if name == "main"], [], stack)


class SmallStacks(LiveTest):

    def test_the_handler_writes_nothing_to_a_threads_stack_and_no_more_than_it_says_to_an_alternate_one(self):
        header = os.path.join(os.path.dirname(__file__), "../../../src/agent/signals/altstack.h")
        with open(header) as file:
            stated = int(re.search(r"AGENT_STACK_NEED (\d+)", file.read())[1])
        # A trap may come while the other signal's frame is measured: that one is asked of the bare run.
        frame = truth_of(subprocess.run(workload("stack_need", 1), capture_output=True,
                                        timeout=300).stdout)["counts"]["frame"]
        for options in ((), ("--trigger", "timer")):
            with self.subTest(options=options):
                counts = self.record(workload("stack_need", 200), *options, rate=20000).truth["counts"]
                self.assertEqual(counts["need"], 0)
                self.assertGreater(counts["alternate"], frame)
                self.assertLessEqual(counts["alternate"] - frame, stated)

    def test_the_smallest_threads_and_coroutines_of_two_pages_live(self):
        for record in (self.record, self.record_as_user):
            recording = record(workload("small_stacks"), rate=20000)
            self.assertEqual(recording.truth["counts"], {"threads": 300, "coroutines": 300})
            self.assertGreater(recording.head()["samples"], 1000)
            self.assert_whole(recording)

    def assert_whole(self, recording):
        stacks = recording.head()["stacks"]
        self.assertGreater(stacks["complete"], 0.99 * sum(stacks.values()), stacks)

    def test_stacks_of_coroutines_end_at_the_function_that_they_begin_with(self):
        recording = self.record(workload("small_stacks", "full", 0), rate=20000)
        self.assert_whole(recording)
        outermost = {frames[0] for frames, _ in recording.folded() if "compute" in frames[-1]}
        self.assertEqual(outermost, {"__start_context"})

    def test_a_stack_that_was_left_for_one_further_out_is_walked(self):
        if os.uname().machine != "x86_64":
            self.skipTest("code that keeps its stack pointer in rbx is x86-64's")
        recording = self.record(workload("other_stack"), rate=5000)
        self.assert_whole(recording)
        found = {tuple(frames[:2]) for frames, _ in recording.folded() if "compute" in frames[-1]}
        self.assertEqual(found, {("__start_context", "be_coroutine")})

    def test_a_stack_that_the_program_made_has_no_frame_beyond_its_first_function(self):
        if os.uname().machine != "x86_64":
            self.skipTest("where the made stack begins is known by x86-64's unwind rules only")
        for beyond in ((), ("1",)):
            with self.subTest(beyond=beyond):
                recording = self.record(workload("other_stack", "made", *beyond), rate=5000)
                stacks = recording.head()["stacks"]
                self.assertGreater(stacks["switched"], 0.9 * sum(stacks.values()), stacks)
                found = {tuple(frames) for frames, _ in recording.folded() if "compute" in frames[-1]}
                self.assertEqual(found, {("be_first", "compute")})

    def test_a_program_without_any_rules_ends_at_its_start(self):
        """tcc links no .eh_frame: its code has frame pointers, and _start a hlt behind its only call."""
        tcc = self.need("tcc")
        source = self.write("spin.c", "int main(void)\n{\n\tvolatile unsigned n = 0;\n"
                                      "\twhile (++n < 100000000)\n\t\t;\n\treturn 0;\n}\n")
        subprocess.run([tcc, "-o", self.path("spin"), source], check=True)
        tally = self.record([self.path("spin")]).head()["stacks"]
        self.assertGreater(tally.get("complete", 0), 0.99 * sum(tally.values()), tally)

    def test_a_thread_ends_behind_a_filter_that_kills_for_our_calls(self):
        bare = subprocess.run(workload("small_stacks", "ends"), capture_output=True, timeout=300)
        if bare.returncode == 77:
            self.skipTest("this machine has no seccomp filters")
        for options in ((), ("--trigger", "timer")):
            with self.subTest(options=options):
                self.record(workload("small_stacks", "ends"), *options)

    def test_coroutines_with_no_room_for_a_signal_live_and_handlers_run_where_the_program_says(self):
        for number, own_stacks in enumerate((0, 2, 4)):
            command = workload("small_stacks", "full", own_stacks)
            bare = truth_of(subprocess.run(command, capture_output=True, timeout=300).stdout)["counts"]
            for options in live.in_turn(((), ("--trigger", "timer")), number):
                with self.subTest(own_stacks=own_stacks, options=options):
                    recording = self.record(command, *options, rate=20000)
                    counts = recording.truth["counts"]
                    if own_stacks == 2:
                        # Where some threads have an alternate stack, handlers of the others may be on ours (0038).
                        counts["away"] = bare["away"]
                    self.assertEqual(counts, bare)
                    self.assertGreater(recording.time_of("fill_and_compute", "total_ns"),
                                       0.8 * recording.head()["sampled_ns"])


class FullStacks(LiveTest):

    def assert_handled(self, recording, turns):
        self.assertEqual(recording.run.stdout, b"%d turns\n" % turns)
        return recording

    def test_a_stack_that_overflows_is_handled_by_the_program(self):
        for record in (self.record, self.record_as_user):
            for kib in (128, 512):
                with self.subTest(record=record.__name__, kib=kib):
                    self.assert_handled(record(workload("overflows", OVERFLOWS), rate=10000, expect=7,
                                               preexec_fn=lambda: limit_stack(kib)), OVERFLOWS)

    def test_so_it_is_where_nothing_is_sampled_and_the_action_was_there_before_the_stack(self):
        command = workload("overflows", 20, "action-first")
        self.assert_handled(self.record(command, expect=7), 20)
        below = ["sh", "-c", '"$@"; exit $?', "sh", *command]
        self.assert_handled(self.record(below, "--no-children", expect=7), 20)
        traced = subprocess.run([live.FATHOM, "trace", "-q", "-o", self.path("trace.fathom"), "--", *command],
                                capture_output=True, timeout=300)
        self.assertEqual((traced.returncode, traced.stdout), (7, b"20 turns\n"), traced.stderr)

    def test_walks_longer_than_the_period_leave_the_program_half_of_the_time(self):
        recording = self.assert_handled(self.record(workload("overflows", 100), rate=20000, expect=7,
                                                    preexec_fn=lambda: limit_stack(8192)), 100)
        self.assert_adds_up(recording)
        self.assertGreater(recording.time_of("compute", "self_ns"), 0.3 * recording.head()["sampled_ns"])


def limit_stack(kib):
    resource.setrlimit(resource.RLIMIT_STACK, (kib * 1024, kib * 1024))


class AlternateStacks(LiveTest):

    def test_a_handler_computes_on_a_small_one_and_nothing_below_is_written(self):
        for size in (2048, 4096, 8192, 13504) if live.IS_LONG else (2048, 8192):
            bare = subprocess.run(workload("altstacks", "compute", size), capture_output=True, timeout=300)
            with self.subTest(size=size, bare=bare.returncode):
                # Where the kernel's frame alone is larger, the program dies without us.
                recording = self.record(workload("altstacks", "compute", size), rate=20000,
                                        expect=0 if bare.returncode == 0 else None)
                if recording.run.returncode == 0:
                    self.assertEqual(recording.truth["counts"], {"computed": 1, "bytes_below": 0})

    def test_sigaltstack_answers_as_without_us(self):
        bare = subprocess.run(workload("altstacks", "say"), capture_output=True, timeout=300)
        self.assertEqual(bare.returncode, 0)
        for record in (self.record, self.record_as_user):
            recorded = record(workload("altstacks", "say"), rate=20000).run
            self.assertEqual(recorded.stdout.decode().splitlines(), bare.stdout.decode().splitlines())

    def test_one_that_is_no_signal_stack_any_more_may_still_be_in_use(self):
        recording = self.record(workload("altstacks", "coroutines"), rate=20000)
        self.assertEqual(recording.truth["counts"], {"turns": 300})

    def test_threads_that_end_give_theirs_back(self):
        recording = self.record(workload("altstacks", "threads"), rate=20000)
        self.assertEqual(recording.truth["counts"], {"mappings_grow": 0})


if __name__ == "__main__":
    live.main()
