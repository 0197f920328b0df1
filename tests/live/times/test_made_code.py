"""Code that a program made while it ran: where it has no names, and which callers it has."""

import os
import random
import re
import subprocess

import live

SCRIPT = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
function sorted() {
	const made = [];
	for (let i = 0; i < 3000; i++)
		made.push((i * 7919) % 5003);
	return made.sort((x, y) => x - y)[0];
}
function replaced() {
	let sum = 0;
	for (let i = 0; i < 300; i++)
		sum += ("abc" + i).replace(/[a-c]+(\\d+)/g, (all, digits) => digits + digits).length;
	return sum;
}
const begin = process.cpuUsage();
let sum = 0;
while (process.cpuUsage(begin).user < 0.9e6)
	sum += fib(18) + sorted() + replaced();
"""
ONE_PLACE = re.compile(r"\[jit\]\+0x[0-9a-f]+…0x[0-9a-f]+$")


JAVA = """
public class Calls {
	static long[] table = new long[4096];
	static long sink;
	static long leafMix(long x, int n) {
		for (int i = 0; i < n; i++) {
			x = x * 6364136223846793005L + 1442695040888963407L;
			table[(int) (x >>> 52)] ^= x;
		}
		return x;
	}
	static long leafSum(long x, int n) {
		long a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8;
		for (int i = 0; i < n; i++) {
			a += table[i & 4095]; b ^= a; c += b * 3; d ^= c; e += d; f ^= e; g += f * 5; h ^= g; x += h;
		}
		return x + a + b + c + d + e + f + g + h;
	}
	static long compiled(long x, int n) { return leafMix(x, n) + leafSum(x, n) * 31; }
	static long interpreted(long x, int n) { return compiled(x, n) + 1; }
	static long around(long x, int n) { return interpreted(x, n) ^ interpreted(x + 1, n); }
	static long allocating(long x) {
		Object[] made = new Object[50];
		for (int i = 0; i < 50; i++)
			made[i] = new long[i + (int) (x & 3)];
		return made.length;
	}
	public static void main(String[] arguments) {
		var clock = java.lang.management.ManagementFactory.getThreadMXBean();
		for (int i = 0; clock.getCurrentThreadCpuTime() < 2000000000L; i++)
			sink += around(i, 200) + allocating(i);
		System.out.println("done");
		System.exit(3);
	}
}
"""
# What stands above each function in a stack; HotSpot's interpreter is one name for all that it runs.
CALLERS_IN_JAVA = {
    "leafMix": {"compiled"}, "leafSum": {"compiled"}, "compiled": set(), "around": {"main"}, "allocating": {"main"},
}


class MadeCode(live.LiveTest):

    def record_node(self, *options):
        node = self.need("node")
        path = self.write("script.js", SCRIPT)
        return self.record([node, *options, path], rate=5000)

    def functions(self, recording):
        return [row["name"] for row in recording.report()["functions"]]

    def test_of_node_is_one_row_for_each_region_and_a_note_says_how_to_have_names(self):
        recording = self.record_node()
        made = [name for name in self.functions(recording) if name.startswith("[jit]")]
        self.assertGreater(len(made), 0)
        self.assertEqual([name for name in made if not ONE_PLACE.match(name)], [])
        self.assertLess(len(made), 30)
        notes = str(recording.head()["notes"])
        self.assertIn("--perf-basic-prof", notes)
        shown = subprocess.run([live.FATHOM, "report", recording.path], capture_output=True, text=True).stdout
        self.assertIn("--perf-basic-prof", shown)
        self.assertNotIn("without names, mostly [", shown, "a package has names of files only")
        self.assert_callers_follow_calls(recording)

    def test_of_node_with_a_perf_map_has_names(self):
        recording = self.record_node("--perf-basic-prof")
        self.assertTrue([name for name in self.functions(recording) if "fib" in name])
        self.assertNotIn("--perf-basic-prof", str(recording.head()["notes"]))

    def assert_callers_follow_calls(self, recording):
        """Addresses in no file are in memory that code was made in."""
        unknown, = recording.rows("SELECT count(*) FROM frames JOIN modules ON modules.id = frames.module"
                                  " WHERE modules.kind = 3")[0]
        self.assertLessEqual(unknown, 2)
        stacks = recording.head()["stacks"]
        self.assertGreater(stacks["complete"], 0.98 * sum(stacks.values()), stacks)

    def test_of_patterns_has_its_reason_and_how_to_do_without(self):
        grep = self.need("grep")
        chance = random.Random(1)
        path = self.write("text", "\n".join("".join(chance.choices("abcz019 ", k=80)) for _ in range(60000)))
        recording = self.record([grep, "-cP", r"(?<=\d)(\w+)\1(?=[^a]*z)|^(a|b+)*c$", path], rate=10000)
        if recording.head()["stacks"].get("no_module", 0) < 100:
            self.skipTest("grep makes no code for its patterns here")
        shown = subprocess.run([live.FATHOM, "report", recording.path], capture_output=True, text=True).stdout
        self.assertRegex(shown, "of the stacks are cut short(, mostly)? by code made at run time")
        self.assertIn("(*NO_JIT)", shown)

    def test_of_neovim_is_whole_as_the_note_says(self):
        program = ("local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end "
                   "print(fib(33))\n")
        for first, is_whole in (("", False), ("jit.off()\n", True)):
            lua = self.write("fib.lua", first + program)
            recording = self.record([self.need("nvim"), "--headless", "--clean", "-c", f"luafile {lua}", "-c", "qa!"])
            stacks = recording.head()["stacks"]
            # Neovim's own start may be compiled before the program switches that off.
            self.assertEqual(stacks.get("complete", 0) >= 0.98 * sum(stacks.values()), is_whole, stacks)
            if not is_whole:
                self.assertIn("jit.off()", str(recording.head()["notes"]))

    def test_where_a_rule_is_wrong_the_code_counts(self):
        """The return address that the rule says is a number that the program computes with."""
        recording = self.record(live.workload("misruled"), rate=5000)
        names = self.functions(recording)
        self.assertIn("misruled", names)
        self.assertEqual([name for name in names if name.startswith("[unknown]")], [])
        stacks = recording.head()["stacks"]
        whole = "complete" if os.uname().machine == "x86_64" else "no_module"
        self.assertGreater(stacks[whole], 0.9 * sum(stacks.values()), stacks)
        if whole == "complete":
            callers = {frames[-2] for frames, _ in recording.folded() if frames[-1] == "misruled"}
            self.assertEqual(callers, {"main"})


LISP = """
(defun fib (n) (declare (fixnum n)) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(defun conses (n) (let ((l nil)) (dotimes (i n) (push (list i i) l)) (length l)))
(defun work (i) (conses 200000) (fib (+ 25 i)))
(let ((threads (loop for i below 3 collect
                 (let ((i i)) (sb-thread:make-thread (lambda () (work i)))))))
  (print (mapcar #'sb-thread:join-thread threads)))
(print (handler-case (labels ((f (n) (1+ (f n)))) (f 1)) (serious-condition () :exhausted)))
(print (handler-case (sb-ext:with-timeout 0.05 (loop (conses 10))) (sb-ext:timeout () :timeout)))
(dotimes (i 5) (print (conses 300000)) (sb-ext:gc :full t))
(finish-output)
(sb-ext:exit :code 7)
"""


class Lisp(live.LiveTest):

    def test_sbcl_comes_out_the_same_with_whole_stacks(self):
        """Its functions are mapped from a file that is no ELF file, and keep frame pointers."""
        command = [self.need("sbcl"), "--noinform", "--non-interactive", "--load", self.write("work.lisp", LISP)]
        bare = subprocess.run(command, capture_output=True, timeout=300)
        self.assertEqual(bare.returncode, 7, bare.stderr)
        for trigger in "timer", "sigtrap":
            with self.subTest(trigger=trigger):
                recording = self.record(command, "--trigger", trigger, rate=5000, expect=7)
                self.assertEqual((recording.run.stdout, recording.run.stderr), (bare.stdout, bare.stderr))
                # One whose frame is not made yet is cut; timers may take as few as 30 samples.
                stacks = recording.head()["stacks"]
                taken = sum(stacks.values())
                cut = taken - stacks["complete"] - stacks.get("too_deep", 0)
                self.assertLess(cut, 0.02 * taken + live.STANDARD_ERRORS * (0.02 * taken) ** 0.5, stacks)
        rows = [row["name"] for row in recording.report()["functions"] if row["name"].startswith("sbcl.core+")]
        self.assertGreater(len(rows), 0)
        self.assertEqual([name for name in rows if "…" not in name], [])

    def record_java(self, *options):
        """`interpreted` is never compiled, and no function is compiled into another."""
        java, javac = self.need("java"), self.need("javac")
        built = subprocess.run([javac, "-d", self.folder, self.write("Calls.java", JAVA)], capture_output=True)
        self.assertEqual(built.returncode, 0, built.stderr)
        recording = self.record([java, *options, "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit",
                                 "-XX:CompileCommand=quiet", "-XX:CompileCommand=exclude,Calls.interpreted",
                                 "-XX:CompileCommand=dontinline,Calls.*", "-cp", self.folder, "Calls"],
                                rate=3000, expect=3)
        self.assertEqual(recording.run.stdout, b"done\n")
        return recording

    def assert_callers_in_java(self, recording):
        seen = set()
        for frames, _ in recording.folded():
            names = [re.sub(r".*Calls\.(\w+)\(.*", r"\1", name) for name in frames]
            for caller, name in zip(names, names[1:]):
                if name in CALLERS_IN_JAVA:
                    seen.add(name)
                    self.assertIn(caller, CALLERS_IN_JAVA[name] | {"Interpreter"}, frames)
        self.assertEqual(seen, set(CALLERS_IN_JAVA))

    def test_stacks_of_java_are_whole_with_frame_pointers(self):
        if os.uname().machine != "x86_64":
            self.skipTest("frames of HotSpot's interpreter are known on x86-64 only")
        recording = self.record_java("-XX:+PreserveFramePointer")
        self.assert_callers_in_java(recording)
        stacks = recording.head()["stacks"]
        self.assertGreater(stacks["complete"], 0.85 * sum(stacks.values()), stacks)

    def test_stacks_of_java_have_no_callers_that_it_has_not(self):
        for options in ((), ("-Xint",)):
            recording = self.record_java(*options)
            if not options:
                self.assert_callers_in_java(recording)
            stacks = recording.head()["stacks"]
            whole = stacks.get("complete", 0) / sum(stacks.values())
            if options:
                self.assertGreater(whole, 0.8, stacks)
            self.assertGreater(stacks.get("complete", 0) + stacks.get("no_module", 0), 0.98 * sum(stacks.values()), stacks)


if __name__ == "__main__":
    live.main()
