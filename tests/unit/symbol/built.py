"""Programs built by the tests, in a folder of their own, and what look_up says of them."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

LOOK_UP = sys.argv[1]

C_SOURCE = """\
#include <stdio.h>
static inline __attribute__((always_inline)) int innermost(int x)
{
	return x * x + 1; /* line 4 */
}
static inline __attribute__((always_inline)) int middle(int x)
{
	return innermost(x) ^ 7; /* line 8 */
}
__attribute__((noinline)) int outer(volatile int *x)
{
	int y = *x;
	*x = middle(y); /* line 13 */
	return y;
}
static __attribute__((noinline)) int hidden(volatile int *x)
{
	return outer(x) + *x;
}
int __visible_inside(volatile int *x)
{
	*x = 1;
	return hidden(x) * 3;
}
int visible(volatile int *x) __attribute__((alias("__visible_inside")));
int weak(volatile int *x) __attribute__((weak, alias("__visible_inside")));
int main(void)
{
	volatile int x = 3;
	int y = visible(&x);
	return puts("done") < 0 ? y : 0;
}
"""

ASM_SOURCE = """\
	.text
	.globl by_hand
by_hand:			# no type, no size, no .cfi
	nop
	nop
	ret
local_by_hand:
	nop
	nop
	ret
	.globl with_frame
with_frame:
	.cfi_startproc
	nop
	nop
	ret
	.cfi_endproc
	.section .note.GNU-stack,"",@progbits
"""

CXX_SOURCE = """\
#include <stdexcept>
#include <string>
namespace shape {
struct Square {
	double side;
	explicit Square(double s);
	double area(int scale) const;
};
Square::Square(double s) : side(s) {}
double Square::area(int scale) const
{
	return side * side * scale;
}
template <class T> __attribute__((noinline)) T twice(T x)
{
	return x * 2;
}
}
namespace {
__attribute__((noinline)) int risky(int x)
{
	if (x > 1000)
		throw std::runtime_error("too much " + std::to_string(x));
	return x + 1;
}
static __attribute__((noinline)) int folded(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x ^ 5;
}
}
int another(int x) __attribute__((alias("_ZN12_GLOBAL__N_1L6foldedEi")));
int main(int argc, char **)
{
	argc += folded(argc);
	auto lambda = [&](int y) __attribute__((noinline)) { return risky(y) * argc; };
	shape::Square square(argc);
	try {
		return (int)shape::twice(square.area(2)) + shape::twice(argc) + lambda(argc * 999);
	} catch (const std::exception &e) {
		return (int)e.what()[0];
	}
}
"""


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


class Frame:
    def __init__(self, line):
        (self.name, self.line_file, number, self.file, definition, inlined, named,
         address) = line.split("\t")
        self.line_number = int(number)
        self.line = int(definition)
        self.is_inlined = inlined == "inlined"
        self.is_named = named == "named"
        self.address = int(address, 16)


class Names:
    """The answers for some addresses, and the notes."""

    def __init__(self, path, addresses, *options, env=None):
        done = subprocess.run([LOOK_UP, *options, path], capture_output=True, text=True,
                              input="\n".join(f"{a:x}" for a in addresses), timeout=60,
                              errors="replace", env=env)
        if done.returncode != 0:
            raise AssertionError(f"look_up {path}: {done.returncode} {done.stderr[-3000:]}")
        answers, notes = ("\n" + done.stdout).split("\nnotes:\n")
        self.notes = notes.splitlines()
        self.answers = [[Frame(line) for line in answer.split("\n")]
                        for answer in answers.strip("\n").split("\n\n") if answer]

    def outer(self):
        return [answer[-1].name for answer in self.answers]


def symbols(path, *options):
    """name → (address, size) of the symbols of a file."""
    found = {}
    for line in run("nm", "-S", *options, path).splitlines():
        fields = line.split()
        if len(fields) == 4:
            found[fields[3]] = (int(fields[0], 16), int(fields[1], 16))
        elif len(fields) == 3 and re.match("[0-9a-f]{16}$", fields[0]):
            found[fields[2]] = (int(fields[0], 16), 0)
    return found


def build_id(path):
    return re.search(r"Build ID: (\w+)", run("readelf", "-n", path)).group(1)


def put_by_build_id(debug_file, root, ident):
    folder = os.path.join(root, ".build-id", ident[:2])
    os.makedirs(folder, exist_ok=True)
    shutil.copy(debug_file, os.path.join(folder, ident[2:] + ".debug"))


class BuiltTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="test_files.")
        cls.folder = cls.scratch.name
        for name, text in (("c.c", C_SOURCE), ("asm.s", ASM_SOURCE), ("cxx.cc", CXX_SOURCE)):
            with open(cls.path(name), "w", encoding="ascii") as file:
                file.write(text)
        cls.empty_root = cls.path("empty")
        os.mkdir(cls.empty_root)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    def build(self, name, *options, compiler="gcc", source="c.c"):
        if not shutil.which(compiler):
            self.skipTest(f"{compiler} is not installed")
        run(compiler, "-O2", *options, source, "-o", name, cwd=self.folder)
        return self.path(name)

    def look_up(self, path, addresses, *options, **more):
        return Names(path, addresses, "-d", self.empty_root, *options, **more)

    def check_inlined(self, names):
        """The three frames of outer()'s only multiplication."""
        chains = [answer for answer in names.answers if len(answer) == 3]
        self.assertTrue(chains)
        for chain in chains:
            self.assertEqual([f.name for f in chain], ["innermost", "middle", "outer"])
            self.assertEqual([f.line_number for f in chain], [4, 8, 13])
            self.assertEqual([f.is_inlined for f in chain], [True, True, False])
            self.assertEqual([f.line for f in chain], [2, 6, 10])
            for frame in chain:
                self.assertEqual(frame.file, self.path("c.c"))
                self.assertEqual(frame.line_file, self.path("c.c"))

    def outer_addresses(self, path):
        start, size = symbols(path)["outer"]
        return range(start, start + size)
