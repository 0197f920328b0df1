"""Python programs that are not what the interpreter expects: switched stacks, exceptions from outside, trampolines."""

import glob
import os
import subprocess
import textwrap

import live
import live_python

GREENLETS = textwrap.dedent("""
    import greenlet

    def burn(turns):
        while turns:
            turns -= 1

    def work(depth):
        if depth:
            return work(depth - 1)
        for _ in range(300):
            burn(6000)
            main.switch()

    def shallow():
        work(2)

    def deep():
        work(9)

    def through_c():
        return list(map(work, [1]))

    def run(tasks):
        while any(not task.dead for task in tasks):
            for task in tasks:
                if not task.dead:
                    task.switch()

    main = greenlet.getcurrent()
    run([greenlet.greenlet(task) for task in (shallow, deep, through_c)])
    """)
GREENLETS_CALLERS = {("work",) * 3 + ("shallow",), ("work",) * 10 + ("deep",), ("work",) * 2 + ("through_c",)}

# What lies beyond a greenlet's stack is of others by now, and mostly no return address.
RESUMED_ELSEWHERE = textwrap.dedent("""
    import greenlet

    def burn(turns):
        while turns:
            turns -= 1

    def task():
        while True:
            burn(6000)
            main.switch()

    def deeper(depth, function):
        if depth == 0:
            return function()
        return max(map(lambda _: deeper(depth - 1, function), range(1)), key=abs)

    main = greenlet.getcurrent()
    tasks = [greenlet.greenlet(task) for _ in range(12)]
    for number in range(1200):
        deeper(number % 5, lambda: tasks[number % 12].switch() or 0)
    """)

# The same asleep, whose stacks are read from outside.
RESTING_ELSEWHERE = RESUMED_ELSEWHERE.replace("burn(6000)", "time.sleep(0.01)").replace("(1200)", "(300)").replace(
    "import greenlet", "import greenlet\nimport time")

THROWN = textwrap.dedent("""
    import asyncio

    def burn(turns):
        while turns:
            turns -= 1

    def generator(depth):
        if depth:
            yield from generator(depth - 1)
        while True:
            try:
                yield
            except ValueError:
                burn(40000)

    def throws():
        waiting = generator(5)
        next(waiting)
        for _ in range(100):
            waiting.throw(ValueError)

    async def waits(depth):
        if depth:
            return await waits(depth - 1)
        for _ in range(100):
            loop = asyncio.get_running_loop()
            future = loop.create_future()
            loop.call_soon(future.set_exception, ValueError())
            try:
                await future
            except ValueError:
                burn(40000)

    throws()
    asyncio.run(waits(5))
    """)
THROWN_CALLERS = {("generator",) * 6 + ("throws", "<module>"),
                  ("waits",) * 6 + ("_run", "_run_once", "run_forever", "run_until_complete", "run", "run", "<module>")}


class Zoo(live_python.PythonTest):
    compares_times = True

    def assert_callers(self, recording, callers, least=0.97):
        """Under burn() there is nothing but these, and nearly all of the program's samples are so."""
        stacks, hits, others = live_python.PythonStacks(recording), 0, {}
        for _, _, stack, _ in recording.samples():
            frames = [frame.name for frame in stacks.walk(stack)]
            if "burn" in frames:
                found = tuple(frames[frames.index("burn") + 1:])
                if found in callers:
                    hits += 1
                else:
                    others[found] = others.get(found, 0) + 1
        self.assertGreater(hits, 200)
        # A frame that is being set up is not there yet, and one that ends is no more.
        self.assertLess(sum(others.values()), 0.01 * hits, others)
        tally = recording.head()["stacks"]
        whole = tally.get("complete", 0) + tally.get("switched", 0)
        self.assertGreater(whole, 0.99 * sum(tally.values()), tally)
        return tally

    def need_greenlets(self):
        python = self.any_python("-c", "import greenlet")
        if subprocess.run(python, capture_output=True).returncode != 0:
            self.skipTest("python3-greenlet is not installed")

    def test_a_greenlet_that_is_resumed_elsewhere_ends_at_its_first_frame(self):
        self.need_greenlets()
        tally = self.assert_callers(self.record(self.any_python("-c", RESUMED_ELSEWHERE)), {("task",)})
        self.assertGreater(tally["switched"], tally["complete"])

    def test_so_does_one_that_waits(self):
        self.need_greenlets()
        recording = self.record(self.any_python("-c", RESTING_ELSEWHERE), "--clock", "wall", rate=None)
        tally = recording.head()["stacks"]
        whole = tally.get("complete", 0) + tally.get("switched", 0)
        self.assertGreater(whole, 0.98 * sum(tally.values()), tally)
        self.assertGreater(tally["switched"], tally.get("complete", 0))

    def test_a_greenlet_has_a_stack_of_its_own(self):
        self.need_greenlets()
        tally = self.assert_callers(self.record(self.any_python("-c", GREENLETS)), GREENLETS_CALLERS)
        self.assertGreater(tally["switched"], tally["complete"])

    def test_what_an_exception_thrown_into_a_coroutine_does_has_all_callers(self):
        self.on_each_python(lambda python: self.assert_callers(self.record_python(python, "-c", THROWN), THROWN_CALLERS),
                            oldest=(3, 11))

    def test_trampolines_for_perf_end_no_stack_and_are_folded(self):
        self.on_each_python(self.assert_trampolines, oldest=(3, 12))

    def assert_trampolines(self, python):
        recording = self.record_python(python, "-X", "perf", "-c", THROWN)
        self.assert_callers(recording, THROWN_CALLERS)
        # One that C calls has no Python frame outside of it, and none of its own as it begins and ends.
        alone = sum(row["self_ns"] for row in recording.report()["functions"] if row["name"].startswith("py::"))
        self.assertLess(alone, 0.01 * recording.total_ns())
        self.assertTrue(any(row["name"].startswith("py::") for row in recording.report("--native")["functions"]))

    def test_code_runs_in_a_state_that_is_not_the_threads_first(self):
        """As under mod_wsgi."""
        libraries = sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/lib/libpython3.[0-9]*.so")))
        if not libraries:
            self.skipTest("no shared libpython is here")
        for library in libraries:
            with self.subTest(library):
                recording = self.record(live.workload("thread_states", library))
                self.assertEqual(recording.run.stdout, b"ran\n")
                self.assertGreater(recording.time_of("spin", "self_ns"), 0.4 * recording.total_ns())


if __name__ == "__main__":
    live.main()
