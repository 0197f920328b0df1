"""Stacks of Ruby programs: none that the program cannot have, and none thrown away to get there."""

import collections
import itertools
import os
import signal
import subprocess

import live
import live_ruby

MOST_SHOWN = 12
# samples.ending: too deep, unreadable.
CUT_SHORT = (1, 2)
# The endings of stacks that have all of Ruby's frames.
WHOLE = ("complete", "switched", "made_code", "native_no_rule", "native_cut")
# What may be executed where a table has one: *.
ANYTHING = "*"


def is_optional(name):
    return name.startswith("(")


class Chains:
    """Which methods in C may stand between two pieces of Ruby code, and behind the innermost."""

    def __init__(self, lines, owners):
        ruby = tuple(f"{owner}{mark}" for owner in owners for mark in "#.")
        self.between = collections.defaultdict(set)  # (outer, inner): {(C methods)}
        self.behind = collections.defaultdict(set)   # innermost: {(C methods)}
        for line in lines:
            place, is_operators, operators = line.partition(" : ")
            if is_operators:
                self.behind[place].update((name,) for name in operators.split(" "))
            else:
                self.add(line.split(" > "), ruby)

    def add(self, names, ruby):
        at = [index for index, name in enumerate(names) if name.startswith(("<", "block ", *ruby))]
        for first, last in zip(at, at[1:] + [len(names)]):
            chain = names[first + 1:last]
            for length in range(1, len(chain) + 1):
                self.behind[names[first]].add(tuple(name.strip("()") for name in chain[:length]))
            if last == len(names):
                continue
            # What is executed without a frame is not seen where it calls something.
            choices = [("", name.strip("()")) if is_optional(name) else (name,) for name in chain]
            for chosen in itertools.product(*choices):
                self.between[names[first], names[last]].add(tuple(filter(None, chosen)))

    @staticmethod
    def fits(found, allowed):
        return tuple(found) in allowed or any(
            chain[-1:] == (ANYTHING,) and tuple(found[:len(chain) - 1]) == chain[:-1] for chain in allowed)

    def wrong(self, chain, beginnings):
        """What there cannot be of a stack, outermost first: [(name, is Ruby's, is the program's, is Ruby in C's stead)].

        Without beginnings it may begin anywhere.
        """
        outer, held, is_internal = None, [], False
        for name, is_ruby, is_own, internal in chain:
            if not is_ruby:
                held.append(name)
                is_internal = is_internal or internal
                continue
            if not is_own:
                # A library's; what it calls is its own affair.
                return None
            if outer is None:
                if beginnings and name not in beginnings:
                    return f"begins with {name}"
            elif not self.fits(held, self.between[outer, name]):
                return f"{outer} > {' > '.join(held + [name])}"
            outer, held, is_internal = name, [], False
        if outer is None or not held or is_internal or self.fits(held, self.behind[outer]):
            return None
        return f"{outer} > {' > '.join(held)} (innermost)"


class CallGraphTest(live_ruby.RubyTest):
    """The workload says which method calls which."""

    def chain_of(self, stacks, stack, program):
        """Outermost first, without collections of garbage."""
        chain = []
        for at in stacks.outwards(stack):
            frame, builtin = stacks.frames[at], stacks.builtins[at]
            if frame:
                chain.append((frame.qualified_name, True, live_ruby.is_own(frame, program), False))
            elif builtin and not live_ruby.is_collection(builtin):
                chain.append((builtin, False, False, at in stacks.internal))
        return chain[::-1]

    def assert_possible(self, recording, program, most=0):
        truth, stacks = recording.truth, live_ruby.RubyStacks(recording)
        chains = Chains(truth["chains"], truth["owners"])
        wrong_ones, total = collections.Counter(), 0
        for stack, ending, count in recording.rows("SELECT stack, ending, count(*) FROM samples"
                                                   " GROUP BY stack, ending"):
            chain = self.chain_of(stacks, stack, program)
            if not any(is_own for _, _, is_own, _ in chain):
                continue
            total += count
            # What is cut short begins where it was cut.
            wrong = chains.wrong(chain, () if ending in CUT_SHORT else truth["beginnings"])
            if wrong:
                wrong_ones[wrong] += count
        self.assertGreater(total, 0)
        self.assertLessEqual(sum(wrong_ones.values()), most * total,
                             f"of {total} samples, impossible: {wrong_ones.most_common(MOST_SHOWN)}")
        return total


def most_of(ruby):
    """In 2.7 a frame counts before it is written, and what stood there may have been possible."""
    return 0.001 if ruby.version < (3, 0) else 0


class CallGraph(CallGraphTest):
    budget_ms = 60000 if live_ruby.IS_LONG else 1000

    def assert_callgraph(self, ruby, *arguments, rate=10000, interpreter=(), is_whole=True, most=0, tries=1, **more):
        for _ in range(tries):
            recording = self.record_ruby(ruby, *interpreter, self.workload("callgraph.rb"), self.budget_ms, *arguments,
                                         rate=rate, timeout=900, expect=None, **more)
            if recording.run.returncode != 128 + signal.SIGSEGV:
                break
        self.assertEqual(recording.run.returncode, 0, recording.run.stderr.decode(errors="replace"))
        self.assertGreater(recording.head()["samples"], 0.5 * self.budget_ms * rate / 1000)
        # A recorder that a busy machine does not let run cannot empty the rings.
        self.assertLess(recording.head()["lost"], 0.02 * recording.head()["samples"])
        self.assert_adds_up(recording)
        self.assert_possible(recording, "callgraph.rb", most)
        if is_whole:
            self.assert_whole_ruby_stacks(recording)
        return recording

    def test_no_caller_has_a_callee_that_it_never_calls(self):
        self.on_each_ruby(lambda ruby: self.assert_callgraph(ruby, 2, most=most_of(ruby)),
                          in_ci=live_ruby.EACH_WAY)

    def test_nor_has_it_without_threads(self):
        self.on_each_ruby(lambda ruby: self.assert_callgraph(ruby, 0, most=most_of(ruby)))

    def test_nor_while_every_collection_moves_all_objects(self):
        self.on_each_ruby(lambda ruby: self.assert_callgraph(ruby, 1, "compact"), oldest=(3, 0))

    def test_nor_in_machine_code_that_yjit_made(self):
        self.on_each_ruby(self.assert_yjit, oldest=(3, 1))

    def assert_yjit(self, ruby):
        said = subprocess.run(ruby.command("--yjit", "--version"), capture_output=True).stdout
        if b"YJIT" not in said:
            self.skipTest(f"{ruby.name} has no YJIT")
        # There is no rule to leave such code by; and up to 3.2 it makes room for a frame before it writes it.
        self.assert_callgraph(ruby, 1, interpreter=("--yjit", "--yjit-call-threshold=5"), is_whole=False,
                              most=0.002 if ruby.version < (3, 3) else 0)

    def test_nor_where_native_code_cannot_be_left(self):
        """Ruby's frames are all there then."""
        self.on_each_ruby(self.assert_unwalkable)

    def assert_unwalkable(self, ruby):
        library = live.workload("libunwalkable.so")[0]
        if not os.path.exists(library):
            self.skipTest("the code that cannot be left is for x86-64")
        if subprocess.run(ruby.command("-rfiddle", "-e", ""), capture_output=True).returncode != 0:
            self.skipTest(f"{ruby.name} has no Fiddle")
        stacks = self.assert_callgraph(ruby, 1, library, is_whole=False, most=most_of(ruby)).head()["stacks"]
        whole = sum(stacks.get(ending, 0) for ending in WHOLE)
        self.assertGreaterEqual(whole, 0.99 * sum(stacks.values()), stacks)
        # That there are such stacks, not how many: by version and processor the program spends 4 to 9 % there.
        self.assertGreater(stacks.get("native_no_rule", 0), 0.01 * sum(stacks.values()), stacks)

    def test_nor_where_threads_of_rubys_share_those_of_the_kernel(self):
        # Without us Ruby 3.4 is killed by SIGSEGV in one of sixty such runs, too.
        self.on_each_ruby(lambda ruby: self.assert_callgraph(ruby, 3, env={**os.environ, "RUBY_MN_THREADS": "1"},
                                                             tries=3), oldest=(3, 3), in_ci=live_ruby.EACH_WAY)


class Shapes(live_ruby.RubyTest):

    def above(self, stacks, stack, name):
        """What stands outside of the innermost frame with this name, innermost first; None without one."""
        names = [found for found in stacks.names(stack) if not live_ruby.is_collection(found)]
        return names[names.index(name) + 1:] if name in names else None

    def test_a_fiber_has_a_stack_of_its_own(self):
        self.on_each_ruby(self.assert_fibers)

    def assert_fibers(self, ruby):
        recording = self.record_ruby(ruby, self.workload("fibers.rb"), 1000)
        stacks = live_ruby.RubyStacks(recording)
        expected = {tuple(names) for names in recording.truth["above_burn"]}
        seen, others = collections.Counter(), collections.Counter()
        for stack, count in recording.rows("SELECT stack, count(*) FROM samples GROUP BY stack"):
            above = self.above(stacks, stack, "Object#burn")
            if above is not None:
                # What in C begins a fiber is Ruby's affair.
                found = next((names for names in expected if tuple(above[:len(names)]) == names), None)
                rest = above[len(found or ()):]
                (seen if found and not any(name.startswith(("Object#", "block")) for name in rest) else
                 others)[found or tuple(above)] += count
        self.assertEqual(others, {})
        self.assertEqual(set(seen), expected)
        self.assert_whole_ruby_stacks(recording)

    def test_recursion_is_as_deep_as_it_is(self):
        self.on_each_ruby(lambda ruby: self.assert_depth(ruby, 800))

    def assert_depth(self, ruby, depth):
        recording = self.record_ruby(ruby, self.workload("deep.rb"), 600, depth, rate=2000)
        stacks, counts = live_ruby.RubyStacks(recording), recording.truth["counts"]
        through_c = ["block in Object#descend_through_c", "Array#each", "Object#descend_through_c"]
        ends = ["Object#main", "<main>"]
        expected = {
            "Object#bottom": ["Object#descend"] * (counts["descend"] + 1) + ends,
            "Object#bottom_of_c": (["Object#descend_through_c"] + through_c * counts["descend_through_c"]) + ends,
        }
        whole, total = 0, 0
        for stack, ending, count in recording.rows("SELECT stack, ending, count(*) FROM samples"
                                                   " GROUP BY stack, ending"):
            for bottom, above in expected.items():
                found = self.above(stacks, stack, bottom)
                if found is not None:
                    total += count
                    if ending == 0:
                        self.assertEqual(found, above)
                        whole += count
        self.assertGreater(total, 500)
        self.assertGreater(whole, 0.99 * total, recording.head()["stacks"])

    def test_what_is_too_deep_says_so_and_has_its_innermost_part(self):
        self.on_each_ruby(self.assert_too_deep)

    def assert_too_deep(self, ruby):
        recording = self.record_ruby(ruby, self.workload("deep.rb"), 600, 7000, rate=1000)
        stacks = live_ruby.RubyStacks(recording)
        deepest = 0
        for stack, ending in recording.rows("SELECT DISTINCT stack, ending FROM samples"):
            found = self.above(stacks, stack, "Object#bottom")
            if found is not None:
                self.assertIn(ending, (0, 1))
                self.assertEqual(set(found) - {"Object#main", "<main>"}, {"Object#descend"})
                deepest = max(deepest, len(found))
        self.assertGreater(deepest, 200)


if __name__ == "__main__":
    live.main()
