"""Python programs that know the truth of themselves, on every version, and what fathom says of them."""

import live
import live_python

OWN_WORK = {"first_work", "second_work", "third_work"}


class Truth(live_python.PythonTest):
    compares_times = True

    def assert_shares(self, python, budget_ms, rate, least_samples, widest, *options):
        recording = self.record_python(python, self.workload("shares.py"), budget_ms, rate=rate, options=options)
        self.assertGreater(recording.head()["samples"], least_samples)
        self.assert_python_truth(recording, widest)

    def test_functions_and_lines_have_the_time_they_took(self):
        self.on_each_python(lambda python: self.assert_shares(python, 1000, 10000, live.LEAST_SAMPLES, live.WIDEST_TOLERANCE),
                            in_ci=live_python.EACH_LAYOUT)

    def test_a_thousand_hertz_show_the_same(self):
        self.on_each_python(lambda python: self.assert_shares(python, 2000, 1000, 1500, 0.04), in_ci=live_python.DEBIAN)

    @live.long_only  # `truth` has timers, and others Python's frames
    def test_the_timer_is_right_too(self):
        # Five standard errors of a third, by 250 ticks a second; kernels that have 100 have half the samples asked for.
        self.on_each_python(lambda python: self.assert_shares(python, 5000, 1000, 250, 0.07, "--trigger", "timer"),
                            in_ci=live_python.DEBIAN)

    def test_each_thread_has_the_time_it_took_by_its_own_clock(self):
        self.on_each_python(self.assert_threads, in_ci=live_python.FEW)

    def assert_threads(self, python):
        recording = self.record_python(python, self.workload("thread_shares.py"), 2000)
        self.assert_python_truth(recording)
        stacks = live_python.PythonStacks(recording)
        names_of = {}
        for thread, stack in recording.rows("SELECT DISTINCT thread, stack FROM samples"):
            names_of.setdefault(thread, set()).update(frame.name for frame in stacks.walk(stack))
        works = [names & OWN_WORK for names in names_of.values() if names & OWN_WORK]
        self.assertEqual(sorted(works, key=min), [{name} for name in sorted(OWN_WORK)])

    def test_primes_are_where_a_calibrated_repetition_has_them(self):
        self.on_each_python(lambda python: self.assert_python_truth(
            self.record_python(python, self.workload("primes.py"), 1000)), in_ci=live_python.FEW)

    def test_an_ordinary_user_gets_the_truth(self):
        self.assert_python_truth(self.record_as_user(self.any_python(self.workload("shares.py"), 1000)))


class TheArticles(live_python.PythonTest):
    compares_times = True

    def test_a_worker_that_computes_sines_stands_at_the_top_with_what_it_calls(self):
        self.on_each_python(self.assert_worker)

    def assert_worker(self, python):
        recording = self.record_python(python, self.workload("sines.py"), rate=1000)
        name = "Worker.run" if python.version >= (3, 11) else "run"
        run = next(row for row in self.python_rows(recording) if row["name"] == name)
        self.assertGreater(run["total_ns"], 0.7 * recording.total_ns())
        self.assertTrue(run["file"].endswith("sines.py"), run)
        self.assertGreater(recording.time_of("math.sin", "total_ns"), 0.15 * recording.total_ns())


if __name__ == "__main__":
    live.main()
