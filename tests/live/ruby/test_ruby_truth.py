"""Ruby programs that know the truth of themselves, on every version, and what fathom says of them."""

import collections
import os
import subprocess

import live
import live_ruby

# So many of the samples within one method may be given to what it never executes.
MOST_WRONG = 0.01
# What a method repeats has at least so much of its time.
LEAST_SEEN = 0.03
# Instructions overlap, and what an operator does once its result stands where its receiver stood is not known
# as the operator's: so much of a loop's time may be one's or another's.
CALIBRATION = 0.18


class Truth(live_ruby.RubyTest):
    compares_times = True

    def assert_workload(self, ruby, program, budget_ms, *options, rate=10000, least_samples=live.LEAST_SAMPLES,
                        widest=live.WIDEST_TOLERANCE, **more):
        recording = self.record_ruby(ruby, self.workload(program), budget_ms, rate=rate, options=options, **more)
        self.assertGreater(recording.head()["samples"], least_samples)
        self.assert_ruby_truth(recording, widest)
        return recording

    def test_methods_and_lines_have_the_time_they_took(self):
        self.on_each_ruby(lambda ruby: self.assert_workload(ruby, "shares.rb", 1000), in_ci=live_ruby.EACH_WAY)

    def test_a_thousand_hertz_show_the_same(self):
        self.on_each_ruby(lambda ruby: self.assert_workload(ruby, "shares.rb", 2000, rate=1000, least_samples=1500,
                                                            widest=0.04))

    @live.long_only  # python_truth has an interpreter's time by timers, and ruby_harmless has Ruby under them
    def test_the_timer_is_right_too(self):
        # Five standard errors of a third, by 250 ticks a second; kernels that have 100 have half the samples asked for.
        self.on_each_ruby(lambda ruby: self.assert_workload(ruby, "shares.rb", 5000, "--trigger", "timer", rate=1000,
                                                            least_samples=250, widest=0.07))

    def test_an_ordinary_user_gets_the_truth(self):
        self.assert_ruby_truth(self.record_as_user(self.any_ruby(self.workload("shares.rb"), 1000)))

    def test_garbage_collection_has_the_time_that_ruby_measures(self):
        self.on_each_ruby(self.assert_collections)

    def assert_collections(self, ruby):
        recording = self.assert_workload(ruby, "collections.rb", 1500)
        stacks, truth = live_ruby.RubyStacks(recording), recording.truth
        whole, cpu_ns = recording.total_ns(), truth["cpu_ns"]
        by_phase = collections.Counter()
        for _, _, stack, weight in recording.samples():
            if stacks.is_collecting(stack):
                names = set(stacks.names(stack))
                by_phase.update({phase: weight for phase in truth["counts"] if f"Object#{phase}" in names})
        is_hit = stacks.is_collecting
        # What is collected while the program makes its heap is no phase's: a few hundredths of the time, more
        # where the machine is slower.
        measured_of = {**by_phase, "all phases": by_phase.total()}
        spent_of = {**truth["counts"], "all phases": truth["collected_ns"]}
        for phase, spent_ns in spent_of.items():
            measured = measured_of.get(phase, 0)
            # Ruby's own measure leaves out what it takes to enter a collection, to leave it and to read the clock;
            # before 3.1 what is swept later, too.
            if ruby.version >= (3, 1):
                allowed = self.allowed(recording, is_hit, live.WIDEST_TOLERANCE) + 0.03 * spent_ns / cpu_ns
                self.assert_share(measured / whole, spent_ns / cpu_ns, allowed, f"collections in {phase}")
            else:
                # And a phase of a fiftieth of the time has some three hundred samples, which are sure to a tenth.
                self.assertGreaterEqual(measured / whole, 0.9 * spent_ns / cpu_ns - live.ONE_POINT, phase)
        self.assertLess(by_phase["compute"], 0.01 * whole)


class Operators(live_ruby.RubyTest):
    """What Ruby executes without a frame."""

    compares_times = True

    def test_operators_that_take_long_have_the_time_they_took(self):
        self.on_each_ruby(self.assert_operators)

    def assert_operators(self, ruby):
        self.assert_ruby_truth(self.record_ruby(ruby, self.workload("operators.rb"), 1500))

    def test_each_has_the_share_of_a_loop_that_calibration_gives_it(self):
        self.on_each_ruby(self.assert_calibrated)

    def assert_calibrated(self, ruby):
        recording = self.record_ruby(ruby, self.workload("calibrated.rb"), 1500)
        within = self.innermost_within(recording, "calibrated.rb")
        for method, bound in recording.truth["bounds"].items():
            found = within[method]
            share = found[bound["operator"]] / sum(found.values())
            self.assertGreater(share, bound["least"] - CALIBRATION, (method, bound, found))
            self.assertLess(share, bound["most"] + CALIBRATION, (method, bound, found))
        self.assertEqual([name for name in within["Object#moves"]
                          if name not in ("Object#moves", "Integer#<", "Integer#+")], [])

    def test_each_is_distinguished_from_all_others(self):
        self.on_each_ruby(self.assert_special)

    def assert_special(self, ruby):
        recording = self.record_ruby(ruby, self.workload("special.rb"), 5000 if live.IS_LONG else 3000)
        within = self.innermost_within(recording, "special.rb")
        wrong, unseen = {}, []
        for method, expected in recording.truth["expected"].items():
            found = within[method]
            samples = sum(found.values())
            others = {name: count for name, count in found.items()
                      if name != method and name not in expected["must"] + expected["may"]}
            if sum(others.values()) > MOST_WRONG * samples:
                wrong[method] = others
            if sum(found[name] for name in expected["must"]) < LEAST_SEEN * samples:
                unseen.append((method, expected["must"], dict(found)))
        self.assertEqual((wrong, unseen), ({}, []))

    def innermost_within(self, recording, program):
        """{method: samples of each frame that is innermost while it is the innermost of these methods}."""
        stacks = live_ruby.RubyStacks(recording)
        within = collections.defaultdict(collections.Counter)
        for stack, count in recording.rows("SELECT stack, count(*) FROM samples GROUP BY stack"):
            method = next((frame for frame in stacks.walk(stack) if live_ruby.is_own(frame, program)
                           and frame.qualified_name.startswith("Object#")), None)
            if method and not stacks.is_collecting(stack):
                within[method.qualified_name][stacks.innermost(stack)] += count
        return within


class Threads(live_ruby.RubyTest):
    compares_times = True

    def of_threads(self, recording):
        """{thread's number: [(stack's names, weight)]}."""
        stacks = live_ruby.RubyStacks(recording)
        of_thread = collections.defaultdict(list)
        for _, thread, stack, weight in recording.samples():
            of_thread[thread].append((set(stacks.names(stack)), weight))
        return of_thread

    def test_each_thread_has_the_time_it_took_by_its_own_clock(self):
        self.on_each_ruby(lambda ruby: self.assert_threads(
            ruby, "thread_shares.rb", 2000, {"Object#first_work", "Object#second_work", "Object#third_work"}))

    def test_threads_that_released_the_gvl_are_busy_beside_the_one_that_has_it(self):
        self.on_each_ruby(lambda ruby: self.assert_threads(
            ruby, "parallel.rb", 2000, {"Object#first_compress", "Object#second_compress", "Object#compute"}))

    def test_ractors_are_busy_each_on_its_own(self):
        self.on_each_ruby(lambda ruby: self.assert_threads(
            ruby, "ractors.rb", 1500, {"Object#first_work", "Object#second_work"}), oldest=(3, 0))

    def assert_threads(self, ruby, program, budget_ms, works):
        recording = self.record_ruby(ruby, self.workload(program), budget_ms)
        self.assert_ruby_truth(recording)
        # No thread has a stack of another's.
        found = [set().union(*(names for names, _ in samples)) & works
                 for samples in self.of_threads(recording).values()]
        self.assertEqual(sorted((names for names in found if names), key=min), [{name} for name in sorted(works)])

    def test_one_that_sleeps_is_not_where_another_one_computes(self):
        self.on_each_ruby(self.assert_sleeper)

    def assert_sleeper(self, ruby):
        recording = self.record_ruby(ruby, self.workload("sleeper.rb"), 1000)
        self.assert_ruby_truth(recording)
        threads = {row["name"]: row["total_ns"] for row in recording.report("--by", "thread")["threads"]}
        self.assert_share(threads["sleeper"] / recording.total_ns(),
                          recording.truth["threads"]["sleeper"] / recording.truth["cpu_ns"], live.ONE_POINT, "sleeper")
        for samples in self.of_threads(recording).values():
            names = set().union(*(names for names, _ in samples))
            self.assertFalse({"Object#compute", "Object#wait_for_work"} <= names)


class BesideStackprof(live_ruby.RubyTest):
    """What Debian's stackprof says of the same program in the same run; only fathom's figures are tested."""

    compares_times = True

    @live.long_only
    def test_the_same_run(self):
        command = self.any_ruby("-e", "require 'stackprof'")
        if subprocess.run(command, capture_output=True).returncode != 0:
            self.skipTest("ruby-stackprof is not installed")
        programs = {"sleeper.rb": 1500, "operators.rb": 2500, "collections.rb": 2000}
        for program, budget_ms in list(programs.items())[:None if live_ruby.IS_LONG else 1]:
            with self.subTest(program):
                self.compare(program, budget_ms)

    def compare(self, program, budget_ms):
        recording = self.record(self.any_ruby(self.workload(program), budget_ms),
                                env={**os.environ, "BESIDE_STACKPROF": "1"})
        compared = self.assert_ruby_truth(recording)
        theirs = recording.truth["stackprof"]
        samples = max(theirs["samples"], 1)
        print(f"\n{program}: {theirs['samples']} samples by stackprof, {theirs['missed']} missed; "
              f"{recording.head()['samples']} by fathom")
        print(f"  {'':34}{'truth':>8}{'fathom':>8}{'stackprof':>11}")
        for what, expected, measured, _ in compared:
            kind, _, name = what.partition(" of ")
            other = theirs.get(kind, {}).get(name)
            print(f"  {what:34}{100 * expected:7.2f} {100 * measured:7.2f} "
                  f"{'-' if other is None else f'{100 * other / samples:.2f}':>10}")


if __name__ == "__main__":
    live.main()
