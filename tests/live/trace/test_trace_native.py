#!/usr/bin/env python3
"""`fathom trace` of compiled programs: what it counts is what the programs count of themselves."""

import json
import os
import shutil
import subprocess
import tempfile

import live

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "workloads", "native")
FLAGS = {
    "instrument": ["-finstrument-functions"],
    "pg": ["-pg"],
    "fentry": ["-pg", "-mfentry"],
}
# Two hooks a function.
TWO_HOOKS = (["-finstrument-functions", "-pg"], ["-finstrument-functions", "-pg", "-mfentry"])
COMPILERS = [name for name in ("gcc", "clang-14", "clang") if shutil.which(name)][:2]
IS_LONG = bool(os.environ.get("FATHOM_LONG"))
# Of clang, in CI: what is not as gcc has it.
CLANG_KINDS = FLAGS if IS_LONG else ("fentry",)
CALLS_COUNTED = "calls "
# {command without its output: a copy of what it has built}
BUILT = {}
BUILT_IN = tempfile.TemporaryDirectory(prefix="fathom-native-")


class NativeTest(live.LiveTest):
    def setUp(self):
        super().setUp()
        self.need("gcc")
        self.need("g++")

    def build(self, compiler, source, kind, *options, name=None):
        target = self.path(name or "%s_%s_%s" % (os.path.basename(source).replace(".", "_"), kind, compiler))
        if source.endswith(".cpp"):
            compiler = compiler.replace("gcc", "g++").replace("clang", "clang++")
        command = (compiler, "-g", "-O2", *FLAGS.get(kind, []), os.path.join(SOURCES, source), *options, "-pthread", "-ldl")
        # Several tests have the same program; one that names the test's folder is its own.
        if command not in BUILT:
            built = subprocess.run([*command, "-o", target], stderr=subprocess.PIPE, text=True)
            self.assertEqual(built.returncode, 0, built.stderr)
            BUILT[command] = os.path.join(BUILT_IN.name, str(len(BUILT)))
            shutil.copy(target, BUILT[command])
        else:
            shutil.copy(BUILT[command], target)
        return target

    def trace(self, *command, options=(), expect=0, **run_options):
        path = self.path("trace.fathom")
        for leftover in (path, path + "-wal", path + "-shm", path + ".old"):
            if os.path.exists(leftover):
                os.unlink(leftover)
        run = subprocess.run([live.FATHOM, "trace", "-q", "-o", path, *options, "--", *command], cwd=self.folder,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300,
                             text=True, **run_options)
        if expect is not None:
            self.assertEqual(run.returncode, expect, run.stderr + run.stdout)
        return run

    def report(self, *options):
        run = subprocess.run([live.FATHOM, "report", "--json", *options, self.path("trace.fathom")],
                             stdout=subprocess.PIPE, check=True)
        return json.loads(run.stdout)

    def counts(self):
        counts = {}
        for function in self.report("-n", "0")["functions"]:
            counts[function["name"].split("(")[0]] = counts.get(function["name"].split("(")[0], 0) + function["calls"]
        return counts

    def callers(self, name):
        nodes = self.report("--callers", name, "-n", "0")["callers"]["nodes"]
        return [node["name"] for node in nodes if node["parent"] == 0]

    def notes(self):
        return [text for text, in live.Recording(self.path("trace.fathom"), None).rows("SELECT text FROM notes")]

    def without_counts(self, output):
        return [line for line in output.splitlines() if not line.startswith(CALLS_COUNTED)]

    def assert_counts_are_the_programs(self, program, *arguments, beside=None, jumps=None):
        """A handler that jumps may come when a call was counted by us, and not yet by itself."""
        plain = subprocess.run([program, *arguments], stdout=subprocess.PIPE, text=True, timeout=100, cwd=self.folder)
        run = self.trace(program, *arguments, expect=plain.returncode)
        self.assertEqual(self.without_counts(run.stdout), self.without_counts(plain.stdout))
        counts = self.counts()
        slack = counts[jumps] if jumps else 0
        for line in run.stdout.splitlines():
            if line.startswith(CALLS_COUNTED):
                name, count = line[len(CALLS_COUNTED):].split()
                expected = int(count) + (beside or {}).get(name, 0)
                self.assertIn(counts.get(name, 0) - expected, range(slack + 1),
                              "%s of %s %s, %d" % (name, program, arguments, expected))

    def on_each(self, source, check, *arguments, **options):
        for compiler in COMPILERS:
            for kind in FLAGS if compiler == "gcc" else CLANG_KINDS:
                with self.subTest(compiler=compiler, kind=kind):
                    check(self.build(compiler, source, kind), *arguments, **options)


class Deep(NativeTest):
    compares_times = True

    def test_a_deep_call_whose_caller_is_not_seen_takes_no_longer_than_others(self):
        for compiler in COMPILERS:
            with self.subTest(compiler=compiler):
                lines = self.trace(self.build(compiler, "pushed.c", "instrument")).stdout.splitlines()
                took = {name: int(figure) for what, name, figure in map(str.split, lines) if what == "took"}
                called = {name: int(figure) for what, name, figure in map(str.split, lines) if what == "calls"}
                counts = self.counts()
                self.assertEqual({name: counts[name] for name in called}, called)
                # Looking through all that stand above each took hundreds of times as long.
                for name in ("on_stack", "through"):
                    self.assertLess(took[name], 20 * took["in_registers"], took)


class Calls(NativeTest):
    def test_calls_left_in_every_way_are_counted_and_nothing_else_changes(self):
        self.on_each("calls.c", self.assert_counts_are_the_programs, "plain")

    def test_threads_that_exit_and_are_cancelled(self):
        self.on_each("calls.c", self.assert_counts_are_the_programs, "threads")

    def test_handlers_in_the_middle_of_everything_on_every_stack(self):
        self.on_each("calls.c", self.assert_counts_are_the_programs, "signals", jumps="on_jump")

    def test_coroutines(self):
        self.on_each("calls.c", self.assert_counts_are_the_programs, "contexts")

    def test_a_coroutine_whose_stack_is_next_to_its_threads(self):
        self.on_each("beside.c", self.assert_counts_are_the_programs)

    def test_children_of_fork_and_vfork(self):
        # What the child of fork counts of itself it does not print.
        self.on_each("calls.c", self.assert_counts_are_the_programs, "children", beside={"in_child": 4, "leaf": 1})

    def test_calls_too_deep_to_have_an_entry(self):
        self.on_each("deep.c", self.assert_counts_are_the_programs)

    def test_copies_that_fork_did_not_make_leave_their_parents_tree_alone(self):
        for way in ("_Fork", "clone", "call"):
            self.on_each("copies.c", self.assert_counts_are_the_programs, way)

    def test_programs_that_forbid_themselves_what_hooks_do_go_on(self):
        for what in ("strict", "counter", "filter"):
            self.on_each("forbidden.c", self.assert_counts_are_the_programs, what)

    def test_what_is_forbidden_is_reported(self):
        program = self.build("gcc", "forbidden.c", "instrument")
        for what, word in (("counter", "without time"), ("filter", "1 threads were not traced")):
            with self.subTest(what=what):
                self.trace(program, what)
                self.assertEqual([word in note for note in self.notes()], [True], self.notes())

    def test_functions_whose_return_address_is_not_where_it_usually_is(self):
        for kind in FLAGS:
            for option in ("-O2", "-O0"):
                with self.subTest(kind=kind, option=option):
                    # Functions within functions are gcc's alone.
                    self.assert_counts_are_the_programs(self.build("gcc", "odd_frames.c", kind, option))
                    # mcount() sees a copy of the return address of a function that aligns its stack, and not its end.
                    if kind != "pg":
                        self.assertEqual(self.callers("after"), ["main"])
                    self.assertEqual(self.callers("compares"), ["nests"])

    def test_functions_that_are_inlined_have_a_hook_of_their_own(self):
        for compiler in COMPILERS:
            with self.subTest(compiler=compiler):
                self.assert_counts_are_the_programs(self.build(compiler, "inlined.c", "instrument"))

    def check_exceptions(self, program):
        self.assert_counts_are_the_programs(program)
        # What they were thrown through does not call what is called next.
        for name, callers in (("after", ["catches", "rethrows"]), ("throws", ["rethrows", "throws"]), ("catches", ["main"])):
            self.assertEqual(sorted(caller.split("(")[0] for caller in self.callers(name)), callers)

    def test_exceptions(self):
        self.on_each("throws.cpp", self.check_exceptions)

    def check_leaves(self, program, inlined="holds"):
        self.assert_counts_are_the_programs(program)
        ways = ["by_builtin", "by_context", "by_exception"]
        for name, callers in (("after", sorted([*ways, inlined])), ("holds", ways)):
            self.assertEqual(sorted(caller.split("(")[0] for caller in self.callers(name)), callers)
        if inlined != "holds":
            self.assertEqual([caller.split("(")[0] for caller in self.callers(inlined)], ["holds"])

    def test_jumps_that_no_library_is_asked_for(self):
        for kind in FLAGS:
            # What is inlined has a hook of its own there.
            inlined = "inlined" if kind == "instrument" else "holds"
            for option in ("-O2", "-O0"):
                with self.subTest(kind=kind, option=option):
                    self.check_leaves(self.build("gcc", "leaves.cpp", kind, option, name="leaves"), inlined)
        for compiler in COMPILERS[1:]:
            with self.subTest(compiler=compiler):
                self.check_leaves(self.build(compiler, "leaves.cpp", "instrument", name="leaves"), "inlined")

    def test_exceptions_with_an_unwinder_of_the_programs_own(self):
        for kind in FLAGS:
            with self.subTest(kind=kind):
                program = self.build("gcc", "throws.cpp", kind, "-static-libgcc", "-static-libstdc++")
                needed = subprocess.run(["ldd", program], stdout=subprocess.PIPE, text=True, check=True).stdout
                self.assertNotIn("libgcc_s", needed)
                self.check_exceptions(program)

    def test_programs_at_a_fixed_address_and_without_symbols(self):
        for kind in FLAGS:
            with self.subTest(kind=kind):
                program = self.build("gcc", "calls.c", kind, "-no-pie")
                self.assert_counts_are_the_programs(program, "plain")
                total = sum(self.counts().values())
                subprocess.run(["strip", program], check=True)
                self.trace(program, "plain")
                self.assertEqual(sum(self.counts().values()), total)

    def test_unprivileged_and_without_perf_events(self):
        program = self.build("gcc", "calls.c", "fentry")
        os.chmod(self.folder, 0o777)
        as_ordinary_user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.getuid() == 0 else []
        path = self.path("user.fathom")
        subprocess.run([*as_ordinary_user, live.FATHOM, "trace", "-q", "-o", path, "--", program, "plain"], check=True,
                       stdout=subprocess.DEVNULL, cwd=self.folder)
        shutil.copyfile(path, self.path("trace.fathom"))
        self.assertEqual(self.counts()["middle"], 1000)


class TwoHooks(NativeTest):
    """Programs that are built with two of the flags: each call is counted twice, and nothing else changes."""

    def test_each_call_is_counted_twice(self):
        for flags in TWO_HOOKS:
            with self.subTest(flags=flags):
                program = self.build("gcc", "calls.c", "none", *flags, name="of_two")
                plain = subprocess.run([program, "plain"], stdout=subprocess.PIPE, text=True, timeout=100, cwd=self.folder)
                run = self.trace(program, "plain", expect=plain.returncode)
                self.assertEqual(run.stdout, plain.stdout)
                counts = self.counts()
                own = {line.split()[1]: 2 * int(line.split()[2]) for line in run.stdout.splitlines()
                       if line.startswith(CALLS_COUNTED)}
                self.assertEqual({name: counts.get(name, 0) for name in own}, own)

    def test_exceptions_and_threads_go_on(self):
        for flags in TWO_HOOKS:
            for source, arguments in (("throws.cpp", ()), ("calls.c", ("threads",)), ("calls.c", ("contexts",))):
                with self.subTest(flags=flags, source=source, arguments=arguments):
                    program = self.build("gcc", source, "none", *flags, name="of_two")
                    plain = subprocess.run([program, *arguments], stdout=subprocess.PIPE, text=True, timeout=100,
                                           cwd=self.folder)
                    run = self.trace(program, *arguments, expect=plain.returncode)
                    self.assertEqual(self.without_counts(run.stdout), self.without_counts(plain.stdout))


class Libraries(NativeTest):
    def test_libraries_that_come_and_go_at_one_address_keep_their_functions(self):
        for compiler in COMPILERS:
            for kind in FLAGS if compiler == "gcc" else CLANG_KINDS:
                with self.subTest(compiler=compiler, kind=kind):
                    libraries = [self.build(compiler, "library.c", kind, "-fPIC", "-shared", "-DNAME=" + name, name=name + ".so")
                                 for name in ("of_one", "of_two")]
                    self.assert_counts_are_the_programs(self.build(compiler, "calls.c", kind), "libraries", *libraries)
                    counts = self.counts()
                    self.assertEqual([counts.get(name) for name in ("of_one", "of_two", "library_entry")], [500, 500, 1000])
                    # Before dlopen() returned.
                    self.assertEqual(counts.get("library_begins"), 20)

    def test_a_library_that_the_program_is_linked_with(self):
        for kind in FLAGS:
            with self.subTest(kind=kind):
                self.build("gcc", "library.c", kind, "-fPIC", "-shared", "-DNAME=inner", name="liblinked.so")
                program = self.build("gcc", "linked.c", "none", "-L" + self.folder, "-llinked", "-Wl,-rpath," + self.folder)
                self.trace(program)
                counts = self.counts()
                self.assertEqual((counts["inner"], counts["library_entry"]), (1000, 1000))


class Programs(NativeTest):
    def test_of_a_program_without_hooks_the_report_names_the_flags(self):
        self.trace("/bin/true")
        notes = " ".join(self.notes())
        for flag in ("-finstrument-functions", "-pg", "-mfentry"):
            self.assertIn(flag, notes)

    def test_a_program_built_with_a_flag_that_calls_no_hook_is_reported_with_those_that_do(self):
        program = self.build("gcc", "calls.c", "none", "-fpatchable-function-entry=6", name="patchable")
        run = self.trace(program, "plain")
        self.assertIn("calls middle 1000", run.stdout)
        self.assertEqual(self.counts().get("middle", 0), 0)
        notes = [note for note in self.notes() if "functions built with -fpatchable-function-entry are not traced" in note]
        self.assertEqual(len(notes), 1, self.notes())
        self.assertIn("-pg -mfentry", notes[0])
        self.trace(self.build("gcc", "calls.c", "fentry"), "plain")
        self.assertNotIn("patchable", " ".join(self.notes()))

    def test_a_program_that_is_killed_has_what_was_counted(self):
        for kind in ("instrument", "fentry"):
            with self.subTest(kind=kind):
                self.trace(self.build("gcc", "killed.c", kind), expect=128 + 9)
                self.assertEqual(self.counts()["before_the_end"], 12345)

    def test_hooks_of_the_programs_own_are_called(self):
        program = self.build("gcc", "own_hooks.c", "instrument")
        plain = subprocess.run([program], stdout=subprocess.PIPE, text=True)
        self.assertEqual(self.trace(program).stdout, plain.stdout)

    def test_a_library_may_have_a_function_that_is_called_as_a_hook(self):
        self.build("gcc", "named_as_hook.c", "none", "-fPIC", "-shared", name="libnamed.so")
        program = self.build("gcc", "named.c", "none", "-L" + self.folder, "-lnamed", "-Wl,-rpath," + self.folder)
        self.trace(program)

    def test_without_a_trace_gmon_out_is_as_it_was(self):
        program = self.build("gcc", "calls.c", "pg")
        gmon = self.path("gmon.out")
        sizes = []
        for command in ([], [live.FATHOM, "record", "-q", "-o", self.path("r.fathom"), "--"]):
            subprocess.run([*command, program, "threads"], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
            sizes.append(os.path.getsize(gmon))
            os.unlink(gmon)
        self.assertEqual(sizes[0], sizes[1])

    def test_an_extension_in_c_stands_below_the_python_that_calls_it(self):
        python = shutil.which("python3")
        include = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('include'))"],
                                 stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        if not os.path.exists(os.path.join(include, "Python.h")):
            self.skipTest("no headers of Python's in " + include)
        for kind in FLAGS:
            with self.subTest(kind=kind):
                self.build("gcc", "extension.c", kind, "-fPIC", "-shared", "-I" + include, name="extension.so")
                self.trace(python, "-c", "import extension\nfor i in range(1000): extension.compute(i)")
                counts = self.counts()
                self.assertEqual((counts["compute"], counts["part_of_it"]), (1000, 3000))
                callers = self.report("--callers", "compute", "-n", "0")
                self.assertIn("extension.compute", json.dumps(callers))


if __name__ == "__main__":
    live.main()
