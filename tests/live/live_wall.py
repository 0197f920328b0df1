"""live_wall - recordings of the wall clock beside what a program says of its own waits.

The truth is JSON: {"interrupted": calls that gave EINTR, "threads": {name: {"life": ns, "running": ns,
"runnable": ns, STATE: ns}}, "pairs": {waiter: {holder: ns}}}, the last only where threads wait for each other.
A thread with "least": {STATE: ns} has in its states' time what it waited for the interpreter's lock behind them.
"""

import math
import re

import live

STATES = ("running", "runnable", "gil", "gvl", "lock", "syscall", "stopped", "io", "sleep", "wait")
# A state or a pair may be off by three standard errors or a point, whichever is more.
ERRORS, POINTS = 3, 0.01
# In CI, where the recorder may miss ticks, only what does not come from ticks is compared: how long a thread
# waited, whatever for, ran, and was runnable.
EXACT_POINTS = 0.02
# Of a thread's life, what all its states may be off.
MOST_OFF = 0.001


def threads_of(recording):
    """[(name, life in ns, {state: ns})] of the first process."""
    lives = {}
    end = recording.head()["wall_ns"]
    for row, name, life in recording.rows("SELECT id, name, coalesce(end_ns, ?) - start_ns FROM threads"
                                          " WHERE process = (SELECT min(id) FROM processes)", end):
        lives[row] = (name, life, {})
    for row, state, ns in recording.rows("SELECT thread, state, sum(weight_ns) FROM samples GROUP BY thread, state"):
        if row in lives:
            lives[row][2][STATES[state]] = ns
    return list(lives.values())


def pairs_of(recording, states):
    """{(waiter, holder): ns} by threads' names, of waits in these states."""
    pairs = {}
    for row in recording.report("--blame")["blame"]:
        if row["state"] in states:
            pair = row["waiter"]["thread"], row["holder"]["thread"]
            pairs[pair] = pairs.get(pair, 0) + row["ns"]
    return pairs


def deviation(share, life_ns, rate):
    """What is read at ticks is met as often as its share of them says, but for chance."""
    ticks = max(1, life_ns * rate / 1e9)
    return ERRORS * math.sqrt(max(0, share * (1 - share)) / ticks)


def allowed(share, life_ns, rate):
    return max(POINTS, deviation(share, life_ns, rate))


def readings_a_second(recording, rate):
    """How often waiting threads were read: where schedstat serves, as seldom as the budget for it allows."""
    for note in recording.head()["notes"]:
        seldom = re.search(r"waiting threads are read every (\d+) ms", note)
        if seldom:
            return min(rate, 1000 / max(1, int(seldom[1])))
    return rate


class Comparison:
    """What is said of a program's waits beside the truth: [(what, true share, said, allowed)].

    A program that only knows that it waited may have waited for the interpreter's lock behind that:
    has_global_lock, and such time is a part of what each thread waits for most.
    """

    def __init__(self, recording, rate, states_with_owner=(), has_global_lock=False):
        self.rows = []
        self.rate = readings_a_second(recording, rate)
        # A thread that it creates may begin with its name, as Ruby's for its timers behind a fork.
        lives = {name: (life, states)
                 for name, life, states in sorted(threads_of(recording), key=lambda thread: thread[1])}
        for name, true in recording.truth["threads"].items():
            life, states = lives[name]
            # Of its life before and behind its own account, as in Ruby's pool of threads, nothing is known, nor what
            # it waited for in calls that are not its subject.
            unknown = (max(0, life - true["life"]) + true.get("unknown", 0)) / life
            if not live.IS_LONG:
                self.add_exact(name, true, {state: ns / life for state, ns in states.items()}, unknown)
                continue
            if has_global_lock:
                most = max(STATES[2:], key=lambda state, true=true: true.get(state, 0))
                states[most] = sum(states.pop(state, 0) for state in {most, "gil", "gvl"})
            said = {state: ns / life for state, ns in states.items()}
            if "least" in true:
                self.add_with_lock_behind(name, true, said, unknown)
                continue
            for state in STATES:
                self.add(f"{name}: {state}", true.get(state, 0), true["life"], said.get(state, 0), unknown)
        if states_with_owner and live.IS_LONG:
            self.add_pairs(recording, states_with_owner, lives)

    def add(self, what, true_ns, life_ns, said, unknown=0.0):
        share = true_ns / life_ns
        # What it waited for in the unknown part of its life is met at ticks, too.
        most = allowed(share, life_ns, self.rate) + unknown
        self.rows.append((what, share, said, most + deviation(unknown, life_ns, self.rate)))

    def add_with_lock_behind(self, name, true, said, unknown):
        """Its clock cannot divide a wait from that for the interpreter's lock behind it, which on a busy machine
        is as long as the thread with that lock has no CPU.  What is said of each state is true if it lies between
        its account without the lock's waits, or the least that it slept, and its account; and the sum is known.
        """
        behind = sum(said.get(state, 0) for state in ("gil", "gvl")) * true["life"]
        for state in STATES:
            if state in ("gil", "gvl"):
                continue
            most = true.get(state, 0)
            least = max(most - behind, min(most, true["least"].get(state, 0))) if state not in STATES[:2] else most
            self.add(f"{name}: {state}", min(max(said.get(state, 0) * true["life"], least), most), true["life"],
                     said.get(state, 0), unknown)
        self.add(f"{name}: waits", true["life"] - true["running"] - true["runnable"], true["life"],
                 sum(said.get(state, 0) for state in STATES[2:]), unknown)

    def add_exact(self, name, true, said, unknown):
        # That a thread was runnable when a wait ended is known by its schedstat, which goes with it: what it was so
        # since the recorder's last look is said to have been waiting.
        unknown += true.get("late", 0) / true["life"]
        for state in ("running", "runnable"):
            self.rows.append((f"{name}: {state}", true[state] / true["life"], said.get(state, 0),
                              EXACT_POINTS + unknown))
        self.rows.append((f"{name}: waits", 1 - (true["running"] + true["runnable"]) / true["life"],
                          sum(said.get(state, 0) for state in STATES[2:]), EXACT_POINTS + unknown))

    def add_pairs(self, recording, states, lives):
        """Of what a thread waited, which part for each: it may be runnable in a hold, which is no wait, and none
        holds what the next one has not taken yet.
        """
        said = pairs_of(recording, states)
        for waiter, holders in recording.truth["pairs"].items():
            true = recording.truth["threads"][waiter]
            waited = sum(true.get(state, 0) for state in states)
            whole = max(1, sum(holders.values()))
            known = max(1, sum(said.get((waiter, holder), 0) for holder in holders))
            # It wants a CPU before it takes what it waited for, in which others may take it.
            unknown = true["runnable"] / true["life"]
            for holder, ns in holders.items():
                self.add(f"{waiter} waits for {holder}", ns / whole * waited, true["life"],
                         said.get((waiter, holder), 0) / known * waited / true["life"], unknown)

    def off(self):
        return [row for row in self.rows if abs(row[1] - row[2]) > row[3]]

    def __str__(self):
        return "\n".join(f"{what:32} {100 * share:6.2f} % true {100 * said:6.2f} % said"
                         f" {100 * (said - share):+6.2f} of {100 * most:5.2f}"
                         for what, share, said, most in self.rows if share > 0 or abs(said) > 0.0005)


class WallTest(live.LiveTest):
    """Tests of `record --clock wall`."""

    compares_times = True

    def assert_whole_lives(self, recording, slack_ns=1000):
        threads = threads_of(recording)
        for name, life, states in threads:
            self.assertLessEqual(abs(sum(states.values()) - life), life * MOST_OFF + slack_ns, (name, life, states))
        return threads

    def assert_known(self, recording, rate, states_with_owner=(), has_global_lock=False):
        """Each state of each thread, and each pair of a waiter and a holder."""
        if "refused" in recording.truth:
            self.skipTest(recording.truth["refused"])
        self.assert_whole_lives(recording)
        self.assertEqual(recording.truth["interrupted"], 0)
        compared = Comparison(recording, rate, states_with_owner, has_global_lock)
        self.assertEqual(compared.off(), [], f"at {rate} Hz\n{compared}")
        return compared
