"""Stacks of Python programs: none that the program cannot have, and none thrown away to get there."""

import collections
import os

import live
import live_python
from live_python import is_impossible, place

# Where a program and a thread of it begin.
BEGINNINGS = {"threading.py": ("_bootstrap", "__bootstrap")}
MOST_SHOWN = 12
# samples.ending: whole but for native frames; ctypes has callbacks in code that it makes.
MADE_CODE, NATIVE_NO_RULE = 13, 14
# And no sample: what is known of a thread only.
KNOWN_BY_THREAD = 16
# Measured on two processors that thirty programs wanted: 0.6 % at most.
MOST_BY_THREAD = 0.03


class CallGraph(live_python.PythonTest):
    """The workload says which function calls which."""

    budget_ms = 60000 if live_python.IS_LONG else 1000

    def assert_possible(self, recording, program, whole=(0,)):
        truth, stacks = recording.truth, live_python.PythonStacks(recording)
        callers, to_libraries = truth["callers"], set(truth["to_libraries"])
        is_wrong = {0: False}
        wrong = collections.Counter()
        counts = dict(recording.rows("SELECT stack, count(*) FROM samples GROUP BY stack"))
        wrong_pairs = {}
        for stack, callee, caller in stacks.pairs():
            pair = (place(callee), place(caller) if caller else None)
            if is_impossible(*pair, callers, to_libraries):
                wrong_pairs[stack] = pair
        for stack, parent in stacks.parents.items():
            if stack:
                is_wrong[stack] = is_wrong[parent] or stack in wrong_pairs
        for stack, count in counts.items():
            if is_wrong[stack]:
                at = next(at for at in self.outwards(stacks, stack) if at in wrong_pairs)
                wrong[wrong_pairs[at]] += count
        self.assertEqual(sum(wrong.values()), 0,
                         f"of {sum(counts.values())} samples, impossible: {wrong.most_common(MOST_SHOWN)}")
        self.assert_complete(recording, stacks, program, whole)

    @staticmethod
    def outwards(stacks, stack):
        while stack:
            yield stack
            stack = stacks.parents[stack]

    def assert_complete(self, recording, stacks, program, endings):
        """While each thread ran the program's code, at least 99 % of its time has whole stacks."""
        def is_begun(frame):
            file = frame.path.rpartition("/")[2] if frame else None
            return file == program and frame.name == "<module>" or frame and frame.name in BEGINNINGS.get(file, ())

        ours = {stack for stack, outermost in stacks.outermost.items() if is_begun(outermost)}
        of_thread = collections.defaultdict(list)
        for thread, stack, ending, weight in recording.rows("SELECT thread, stack, ending, weight_ns FROM samples"
                                                            " ORDER BY time_ns"):
            of_thread[thread].append((stack, ending, weight))
        whole = total = by_thread = 0
        others = collections.Counter()
        for samples in of_thread.values():
            # What lies before and behind is the interpreter's start and end.
            begun = [index for index, sample in enumerate(samples) if sample[0] in ours]
            for stack, ending, weight in samples[begun[0]:begun[-1] + 1] if begun else ():
                if ending == KNOWN_BY_THREAD:
                    by_thread += weight
                    continue
                total += weight
                if ending in endings and stack in ours:
                    whole += weight
                else:
                    outermost = stacks.outermost[stack]
                    others[f"ending {ending}, begins with {outermost and place(outermost)}"] += weight
        self.assertGreaterEqual(whole, 0.99 * total, others.most_common(MOST_SHOWN))
        # No sample of theirs: time that is more than one can stand for, where the machine is busy.
        self.assertLessEqual(by_thread, MOST_BY_THREAD * total)

    def assert_callgraph(self, python, threads, *more, program="callgraph.py", rate=10000, whole=(0,)):
        recording = self.record_python(python, self.workload(program), self.budget_ms, threads, *more, rate=rate,
                                       timeout=900)
        self.assertGreater(recording.head()["samples"], 0.5 * self.budget_ms * rate / 1000)
        # A recorder that a busy machine does not let run cannot empty the rings.
        self.assertLess(recording.head()["lost"], 0.02 * recording.head()["samples"])
        self.assert_adds_up(recording)
        self.assert_possible(recording, program, whole)
        return recording

    def test_no_caller_has_a_callee_that_it_never_calls(self):
        self.on_each_python(lambda python: self.assert_callgraph(python, 2))

    def test_nor_has_it_without_threads(self):
        self.on_each_python(lambda python: self.assert_callgraph(python, 0), in_ci=live_python.DEBIAN)

    def test_nor_have_coroutines(self):
        self.on_each_python(lambda python: self.assert_callgraph(python, 0, program="callgraph_async.py"), oldest=(3, 7),
                            in_ci=("3.8", "3.12", "3.14"))

    def test_nor_where_native_code_cannot_be_left(self):
        """Python's frames follow then."""
        self.on_each_python(self.assert_unwalkable, in_ci=live_python.FEW)

    def assert_unwalkable(self, python):
        library = live.workload("libunwalkable.so")[0]
        if not os.path.exists(library):
            self.skipTest("the code that cannot be left is for x86-64")
        recording = self.assert_callgraph(python, 1, library, whole=(0, MADE_CODE, NATIVE_NO_RULE))
        stacks = recording.head()["stacks"]
        # That there are such stacks, not how many: it differs by version and processor.
        self.assertGreater(stacks.get("native_no_rule", 0), 0.01 * sum(stacks.values()), stacks)


if __name__ == "__main__":
    live.main()
