#!/usr/bin/env python3
"""What the symbolizer says of programs built here in every way that programs are built.

usage: test_files.py LOOK_UP [unittest arguments]

The truth is the linker's own: nm of the unstripped program, and the lines of the sources
below.  Tools that are missing skip their tests with a reason.
"""
import lzma
import os
import re
import shutil
import socket
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


class FilesTest(unittest.TestCase):
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

    def test_inlined_calls_are_frames_of_their_own(self):
        for compiler in ("gcc", "clang", "clang-14"):
            for version in (2, 3, 4, 5):
                with self.subTest(compiler=compiler, version=version):
                    path = self.build("inlined", "-g", f"-gdwarf-{version}", compiler=compiler)
                    self.check_inlined(self.look_up(path, self.outer_addresses(path)))

    def test_debug_sections_may_be_compressed(self):
        path = self.build("compressed", "-g", "-gz")
        self.check_inlined(self.look_up(path, self.outer_addresses(path)))

    def test_link_time_optimization_keeps_the_frames(self):
        path = self.build("lto", "-g", "-flto")
        self.check_inlined(self.look_up(path, self.outer_addresses(path)))

    def test_of_split_dwarf_the_lines_are_known(self):
        for version in (4, 5):
            path = self.build("split", "-g", f"-gdwarf-{version}", "-gsplit-dwarf")
            for answer in self.look_up(path, self.outer_addresses(path)).answers:
                self.assertEqual([frame.name for frame in answer], ["outer"])
                self.assertEqual(answer[0].line_file, self.path("c.c"))
                self.assertIn(answer[0].line_number, range(2, 16))

    def test_an_image_in_memory_is_as_good_as_a_file(self):
        path = self.build("image", "-g")
        self.check_inlined(self.look_up(path, self.outer_addresses(path), "-m"))

    def test_without_dwarf_there_are_symbols_of_the_right_size(self):
        path = self.build("symbols")
        table = symbols(path)
        for name in ("outer", "hidden", "main"):
            start, size = table[name]
            names = self.look_up(path, range(start, start + size))
            self.assertEqual(set(names.outer()), {name})
        gap = [start + size for start, size in table.values() if size]
        starts = {start for start, _ in table.values()}
        for answer in self.look_up(path, [a for a in gap if a not in starts]).answers:
            self.assertFalse(answer[-1].is_named and answer[-1].name in ("outer", "hidden",
                                                                         "main"))

    def test_of_aliases_the_public_one_with_fewest_underscores_is_the_name(self):
        for options in ([], ["-g"]):
            path = self.build("aliases", *options)
            start, _ = symbols(path)["weak"]
            self.assertEqual(self.look_up(path, [start]).outer(), ["visible"])

    def test_a_stripped_function_is_one_unnamed_function(self):
        full = self.build("stripping", "-rdynamic")
        stripped = self.path("stripped")
        run("strip", "-o", stripped, full)
        start, size = symbols(full)["hidden"]
        names = self.look_up(stripped, range(start, start + size))
        self.assertEqual(set(names.outer()), {f"stripped+{start:#x}"})
        self.assertEqual([a[0].address for a in names.answers],
                         list(range(start, start + size)))
        start, size = symbols(full)["visible"]
        self.assertEqual(set(self.look_up(stripped, range(start, start + size)).outer()),
                         {"visible"})

    def test_a_function_whose_symbol_was_removed_gets_no_neighbours_name(self):
        full = self.build("removing")
        partly = self.path("partly")
        run("objcopy", "--strip-symbol=hidden", full, partly)
        start, size = symbols(full)["hidden"]
        self.assertEqual(set(self.look_up(partly, range(start, start + size)).outer()),
                         {f"partly+{start:#x}"})

    def test_assembler_functions_without_size_end_at_their_neighbour(self):
        run("gcc", "-c", "asm.s", "-o", "asm.o", cwd=self.folder)
        full = self.build("assembler", "asm.o", "-rdynamic")
        table = symbols(full)
        expected = [(table["by_hand"][0], 3, "by_hand"),
                    (table["local_by_hand"][0], 3, "local_by_hand"),
                    (table["with_frame"][0], 3, "with_frame")]
        for start, size, name in expected:
            self.assertEqual(self.look_up(full, range(start, start + size)).outer(),
                             [name] * size)
        stripped = self.path("assembler_stripped")
        run("strip", "-o", stripped, full)
        start = table["by_hand"][0]
        names = self.look_up(stripped, range(start, start + 9)).outer()
        # by_hand may end anywhere; local_by_hand must not be taken for it.
        self.assertEqual(names[0], "by_hand")
        self.assertNotIn("by_hand", names[3:6])
        # .eh_frame says how long with_frame is.
        self.assertEqual(names[6:9], ["with_frame"] * 3)

    def test_assembler_functions_have_lines(self):
        run("gcc", "-g", "-c", "asm.s", "-o", "asm.o", cwd=self.folder)
        path = self.build("assembler_lines", "asm.o")
        start, _ = symbols(path)["with_frame"]
        for answer in self.look_up(path, range(start, start + 3)).answers:
            frame = answer[0]
            first = ASM_SOURCE.split("with_frame:")[0].count("\n") + 3
            self.assertEqual((frame.name, frame.file, frame.line),
                             ("with_frame", self.path("asm.s"), first))
            self.assertEqual(frame.line_number, first + frame.address - start)

    def check_stubs(self, path, objdump, expected):
        """Each stub that objdump names has that name, from its first byte to its last jump."""
        stubs = []
        for line in run(objdump, "-d", "-j", ".plt", "-j", ".plt.sec", "-j", ".plt.got",
                        path).splitlines():
            match = re.match(r"([0-9a-f]+) <(\w+@plt)>:", line)
            if match:
                stubs.append((int(match[1], 16), match[2]))
        names = self.look_up(path, [address for address, _ in stubs])
        self.assertEqual(names.outer(), [name for _, name in stubs])
        self.assertIn(expected, names.outer())
        names = self.look_up(path, [address + 12 for address, _ in stubs])
        self.assertEqual(names.outer(), [name for _, name in stubs])

    def test_plt_stubs_are_named_by_what_they_lead_to(self):
        for options in (["-fcf-protection=none"], ["-fcf-protection=full"], ["-Wl,-z,now"],
                        ["-Wl,-z,now", "-fcf-protection=none"]):
            with self.subTest(options=options):
                path = self.build("plt", "-no-pie", "-Wl,-z,lazy", *options)
                self.check_stubs(path, "objdump", "puts@plt")

    def test_plt_stubs_of_aarch64_are_named(self):
        for options in ([], ["-mbranch-protection=standard", "-Wl,-z,force-bti,-z,pac-plt"]):
            with self.subTest(options=options):
                path = self.build("plt_aarch64", "-shared", "-fPIC", "-nostdlib", *options,
                                  compiler="aarch64-linux-gnu-gcc")
                self.check_stubs(path, "aarch64-linux-gnu-objdump", "puts@plt")

    def test_plt_stubs_of_static_programs_have_the_functions_name(self):
        path = self.build("static_plt", "-static")
        section = re.search(r"\.plt\s+PROGBITS\s+([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)",
                            run("readelf", "-SW", path))
        start, size = int(section[1], 16), int(section[2], 16)
        names = self.look_up(path, range(start, start + size, 16)).outer()
        self.assertTrue(all(name.endswith("@plt") for name in names), names)

    def test_cxx_names_have_their_parameters(self):
        for options in ([], ["-g"]):
            with self.subTest(options=options):
                path = self.build("cxx", *options, compiler="g++", source="cxx.cc")
                table = symbols(path)
                wanted = {
                    "_ZN5shape6SquareC2Ed": "shape::Square::Square(double)",
                    "_ZNK5shape6Square4areaEi": "shape::Square::area(int) const",
                    "_ZN5shape5twiceIdEET_S1_": "double shape::twice<double>(double)",
                    "_ZN5shape5twiceIiEET_S1_": "int shape::twice<int>(int)",
                    "_ZN12_GLOBAL__N_15riskyEi": "(anonymous namespace)::risky(int)",
                    "main": "main",
                }
                names = self.look_up(path, [table[name][0] for name in wanted])
                self.assertEqual(names.outer(), list(wanted.values()))

    def test_an_alias_does_not_rename_a_function_that_dwarf_names(self):
        path = self.build("folded", "-g", compiler="g++", source="cxx.cc")
        start, _ = symbols(path)["_Z7anotheri"]
        self.assertEqual(self.look_up(path, [start]).outer(), ["folded"])

    def test_the_cold_part_of_a_function_has_its_name(self):
        path = self.build("cold", "-g", compiler="g++", source="cxx.cc")
        cold = [name for name in symbols(path) if "risky" in name and name.endswith(".cold")]
        if not cold:
            self.skipTest("this compiler splits nothing off")
        names = self.look_up(path, [symbols(path)[cold[0]][0]])
        self.assertEqual(names.outer(), ["(anonymous namespace)::risky(int)"])
        stripped = self.path("cold_nodebug")
        run("strip", "-g", "-o", stripped, path)
        names = self.look_up(stripped, [symbols(path)[cold[0]][0]])
        self.assertEqual(names.outer(), ["(anonymous namespace)::risky(int) [clone .cold]"])

    def test_static_and_static_pie_programs_are_read(self):
        for option in ("-static", "-static-pie"):
            path = self.build("static", option, "-g")
            self.check_inlined(self.look_up(path, self.outer_addresses(path)))

    def split(self, name, *options):
        """(stripped program, its debug file, the whole one)"""
        full = self.build(name + ".full", "-g", *options)
        debug, stripped = self.path(name + ".debug"), self.path(name)
        run("objcopy", "--only-keep-debug", full, debug)
        run("strip", "-o", stripped, full)
        return stripped, debug, full

    def test_a_debug_file_is_found_by_build_id(self):
        stripped, debug, full = self.split("by_id")
        root = self.path("root_by_id")
        put_by_build_id(debug, root, build_id(full))
        addresses = self.outer_addresses(full)
        self.assertFalse(self.look_up(stripped, addresses).answers[0][0].is_named)
        self.check_inlined(Names(stripped, addresses, "-d", root))

    def test_a_debug_file_of_another_build_is_not_used(self):
        stripped, _, full = self.split("one")
        _, other_debug, _ = self.split("other", "-DOTHER=1", "-O1")
        root = self.path("root_other")
        put_by_build_id(other_debug, root, build_id(full))
        names = Names(stripped, self.outer_addresses(full), "-d", root)
        self.assertFalse(names.answers[0][0].is_named)

    def test_a_debug_file_is_found_by_its_link(self):
        for place in ("{folder}/linked.debug", "{folder}/.debug/linked.debug",
                      "{root}{folder}/linked.debug"):
            for ident in ("-Wl,--build-id=none", "-Wl,--build-id=sha1"):
                with self.subTest(place=place, ident=ident):
                    stripped, debug, full = self.split("linked", ident)
                    run("objcopy", "--add-gnu-debuglink=" + debug, stripped)
                    root = self.path("root_link")
                    target = place.format(folder=self.folder, root=root)
                    os.makedirs(os.path.dirname(target), exist_ok=True)
                    os.rename(debug, target)
                    names = Names(stripped, self.outer_addresses(full), "-d", root)
                    os.remove(target)
                    self.check_inlined(names)

    def test_a_linked_file_with_another_checksum_is_not_used(self):
        stripped, debug, full = self.split("checked", "-Wl,--build-id=none")
        run("objcopy", "--add-gnu-debuglink=" + debug, stripped)
        with open(debug, "ab") as file:
            file.write(b"\0")
        names = self.look_up(stripped, self.outer_addresses(full))
        self.assertFalse(names.answers[0][0].is_named)
        self.assertEqual(len(names.notes), 1)
        self.assertIn("checked.debug belongs to another build", names.notes[0])

    def test_information_shared_by_debug_files_is_used(self):
        if not shutil.which("dwz"):
            self.skipTest("dwz is not installed")
        # dwz shares what is common to two files and large enough.
        kinds = "".join(f"struct kind{i} {{ int a{i}; long b{i}; struct kind{i} *next; }};\n"
                        f"struct kind{i} v{i};\n" for i in range(40))
        with open(self.path("shared.c"), "w", encoding="ascii") as file:
            file.write(C_SOURCE + kinds)
        root = self.path("root_shared")
        debugs = []
        for name in ("first", "second"):
            full = self.build(name, "-g", "-Wl,--build-id=0x" + name.encode().hex().ljust(40, "0"),
                              source="shared.c")
            debug = self.path(name + ".debug")
            run("objcopy", "--only-keep-debug", full, debug)
            debugs.append(debug)
        common = self.path("common.debug")
        run("dwz", "-m", common, "-M", common, *debugs, cwd=self.folder)
        self.assertIn(".gnu_debugaltlink", run("readelf", "-SW", debugs[0]))
        addresses = self.outer_addresses(self.path("first"))
        stripped = self.path("first.stripped")
        run("strip", "-o", stripped, self.path("first"))
        put_by_build_id(debugs[0], root, build_id(self.path("first")))
        shared = [c for c in Names(stripped, addresses, "-d", root).answers if len(c) == 3][0]
        self.assertEqual([f.name for f in shared], ["innermost", "middle", "outer"])
        self.assertEqual([f.line_number for f in shared], [4, 8, 13])

        os.rename(common, common + ".away")
        names = Names(stripped, addresses, "-d", root)
        self.assertEqual(set(names.outer()), {"outer"})
        self.assertEqual(names.answers[0][0].line_number, 0)
        self.assertIn("shares with others is missing", names.notes[0])
        put_by_build_id(common + ".away", root, build_id(common + ".away"))
        names = Names(stripped, addresses, "-d", root)
        self.assertEqual(max(len(answer) for answer in names.answers), 3)

    def with_debugdata(self, name, damage=lambda packed: packed):
        full = self.build(name + ".full")
        mini, packed, stripped = self.path(name + ".mini"), self.path(name + ".xz"), \
            self.path(name)
        run("objcopy", "--only-keep-debug", full, mini)
        with open(mini, "rb") as source, open(packed, "wb") as target:
            target.write(damage(lzma.compress(source.read())))
        run("strip", "-o", stripped, full)
        run("objcopy", "--add-section", ".gnu_debugdata=" + packed, stripped)
        return stripped, full

    def test_gnu_debugdata_names_what_was_stripped(self):
        stripped, full = self.with_debugdata("debugdata")
        start, size = symbols(full)["hidden"]
        self.assertEqual(set(self.look_up(stripped, range(start, start + size)).outer()),
                         {"hidden"})

    def test_damaged_gnu_debugdata_is_noted(self):
        damages = {
            "cut": lambda packed: packed[:len(packed) // 2],
            "changed": lambda packed: packed[:100] + b"\xff" * 50 + packed[150:],
            "no_xz": lambda packed: b"not compressed at all",
            "no_elf": lambda packed: lzma.compress(b"not an ELF file"),
        }
        for name, damage in damages.items():
            with self.subTest(damage=name):
                stripped, full = self.with_debugdata(name, damage)
                names = self.look_up(stripped, [symbols(full)["hidden"][0]])
                self.assertFalse(names.answers[0][0].is_named)
                self.assertEqual(len(names.notes), 1)
                self.assertIn(f"some function names of {stripped} are missing", names.notes[0])

    def test_a_bomb_in_gnu_debugdata_is_not_unpacked(self):
        stripped, full = self.with_debugdata(
            "bomb", lambda packed: lzma.compress(b"\0" * (300 << 20), preset=1))
        names = self.look_up(stripped, [symbols(full)["hidden"][0]])
        self.assertIn("larger than 256 MiB", names.notes[0])

    def test_another_build_than_the_recorded_one_has_no_names(self):
        path = self.build("recorded", "-g")
        addresses = self.outer_addresses(path)
        good = build_id(path)
        self.check_inlined(self.look_up(path, addresses, "-b", good))
        for bad in ("00" + good[2:], good[:-2]):
            names = self.look_up(path, addresses, "-b", bad)
            # Not even its segments are believed: these are offsets in the file.
            self.assertEqual(names.answers[0][0].name, f"recorded+{addresses[0]:#x}")
            self.assertEqual(len(names.notes), 1)
            self.assertIn("is another build than the one recorded", names.notes[0])

    def test_what_is_no_file_to_read_is_noted_and_not_waited_for(self):
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        for path, why in ((fifo, "not a regular file"), (self.folder, "not a regular file"),
                          (self.path("missing"), "No such file"), ("/dev/zero", "not a regular"),
                          (self.path("c.c"), "not an ELF file")):
            with self.subTest(path=path):
                names = self.look_up(path, [0x1234], "-o")
                self.assertEqual(names.outer(), [os.path.basename(path) + "+0x1234"])
                self.assertEqual(len(names.notes), 1)
                self.assertIn(why, names.notes[0])

    def test_the_network_is_never_asked(self):
        stripped, _, full = self.split("lonely")
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.setblocking(False)
            env = dict(os.environ,
                       DEBUGINFOD_URLS=f"http://127.0.0.1:{server.getsockname()[1]}/")
            names = self.look_up(stripped, self.outer_addresses(full), env=env)
            self.assertFalse(names.answers[0][0].is_named)
            with self.assertRaises(BlockingIOError):
                server.accept()

    def test_cut_files_lose_names_and_nothing_else(self):
        path = self.build("whole", "-g", "-gz=none")
        with open(path, "rb") as file:
            data = file.read()
        cut = self.path("cut")
        for length in range(0, len(data), max(1, len(data) // 60)):
            with open(cut, "wb") as file:
                file.write(data[:length])
            self.assertEqual(len(self.look_up(cut, range(0x1000, 0x1400, 16), "-o").answers), 64)

    def test_damaged_bytes_lose_names_and_nothing_else(self):
        path = self.build("sound", "-g")
        with open(path, "rb") as file:
            data = bytearray(file.read())
        damaged = self.path("damaged")
        # Each run spoils other bytes: a fixed linear congruence, so that failures repeat.
        seed = 1
        for _ in range(60):
            spoilt = bytearray(data)
            for _ in range(200):
                seed = (seed * 6364136223846793005 + 1442695040888963407) % (1 << 64)
                spoilt[64 + (seed >> 33) % (len(data) - 64)] = seed >> 24 & 0xff
            with open(damaged, "wb") as file:
                file.write(spoilt)
            self.look_up(damaged, range(0x1000, 0x1400, 16), "-o")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
