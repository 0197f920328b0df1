"""What the wall clock says of programs that know what they wait for, in which state, for which thread."""

import live
import live_python
import live_ruby
import live_wall
from live import workload

# Each runs alone: together they would switch so often that schedstat serves (docs/wall.md).
SHORT_US = ((20, 1000, 10000), (50, 200, 500, 50000), (100, 2000, 5000, 20000, 100000, 1000000))
LENGTHS_US = SHORT_US if live.IS_LONG else ((1000, 10000, 50000),)
# Of the time of all waits of a length.
LENGTH_OFF = 0.01 if live.IS_LONG else 0.1
SECONDS = 8 if live.IS_LONG else 1.5


class Lengths(live_wall.WallTest):

    def test_waits_of_each_length_have_their_time(self):
        for rate in (100, 1000):
            for lengths in LENGTHS_US:
                with self.subTest(rate=rate, lengths=lengths):
                    self.assert_lengths(rate, lengths)

    def assert_lengths(self, rate, lengths):
        recording = self.record(workload("wait_lengths", SECONDS, *lengths), "--clock", "wall", rate=rate)
        self.assertEqual(recording.truth["interrupted"], 0)
        if any("schedstat" in note for note in recording.head()["notes"]):
            self.skipTest("this machine switches so often that reports of switches were given up")
        for name, life, states in self.assert_whole_lives(recording):
            if name not in recording.truth["threads"]:
                continue
            true = recording.truth["threads"][name]["waited_ns"]
            # Of what was never met at a tick the state is not known.
            waited = sum(states.get(state, 0) for state in live_wall.STATES[2:])
            self.assertLessEqual(abs(waited - true), LENGTH_OFF * true + 0.001 * life, (name, true, states))


class KnownWaits(live_wall.WallTest):

    def test_a_minute_at_1000_hz_interrupts_no_call(self):
        recording = self.record(workload("lives", 60 if live.IS_LONG else 1), "--clock", "wall", rate=1000)
        self.assertEqual(recording.truth["interrupted"], 0)
        self.assert_whole_lives(recording)

    def test_a_native_programs_states_and_pairs_are_true(self):
        for rate in (100, 1000):
            with self.subTest(rate=rate):
                recording = self.record(workload("known_waits", SECONDS, self.path("file")), "--clock", "wall",
                                        rate=rate)
                self.assert_known(recording, rate, ("lock",))


class Interpreted(live_wall.WallTest):
    """Each kind of wait has a process of its own: beside a busy thread every wait ends in one for the lock."""

    def assert_kinds(self, record, kinds):
        for rate in (100, 1000):
            for kind, states in kinds.items():
                with self.subTest(rate=rate, kind=kind):
                    recording = record("--clock", "wall", rate=rate, arguments=(kind, SECONDS, self.path("file")))
                    self.assert_known(recording, rate, states, has_global_lock=kind not in states)


@live.long_only
class KnownWaitsOfPython(Interpreted, live_python.PythonTest):

    def test_states_and_pairs_are_true(self):
        self.on_each_python(self.assert_python, oldest=(3, 8))

    def assert_python(self, python):
        self.assert_kinds(lambda *options, rate, arguments: self.record_python(
            python, self.workload("known_waits.py"), *map(str, arguments), options=options, rate=rate),
                          {"alone": (), "gil": ("gil",), "lock": ("lock",)})


@live.long_only
class KnownWaitsOfRuby(Interpreted, live_ruby.RubyTest):

    def test_states_and_pairs_are_true(self):
        self.on_each_ruby(self.assert_ruby)

    def assert_ruby(self, ruby):
        self.assert_kinds(lambda *options, rate, arguments: self.record_ruby(
            ruby, self.workload("known_waits.rb"), *map(str, arguments), options=options, rate=rate),
                          {"alone": (), "gvl": ("gvl",), "lock": ("lock",)})


if __name__ == "__main__":
    live.main()
