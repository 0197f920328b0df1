#!/usr/bin/env python3
"""What the symbolizer says of programs built here in every way that programs are built.

usage: test_files.py LOOK_UP [unittest arguments]

The truth is the linker's own: nm of the unstripped program, and the lines of the sources.
Tools that are missing skip their tests with a reason.
"""
import os
import re
import sys
import unittest

from built import ASM_SOURCE, BuiltTest, run, symbols


class FilesTest(BuiltTest):
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

    def test_what_a_signals_handler_returns_to_has_the_name_it_has_in_glibc(self):
        """There it is a local symbol: .eh_frame says of a stripped library which code it is."""
        source = self.path("trampoline.s")
        with open(source, "w") as file:
            file.write(".text\n.globl _start\n_start: .cfi_startproc\nnop\n.cfi_endproc\n"
                       ".cfi_startproc\n.cfi_signal_frame\nnop\ntrampoline: nop\nnop\n.cfi_endproc\n")
        path = self.path("trampoline")
        run("gcc", "-nostdlib", "-o", path, source)
        start, _ = symbols(path)["trampoline"]
        run("strip", path)
        self.assertEqual(self.look_up(path, [start, start + 1]).outer(), ["__restore_rt"] * 2)

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

    def test_a_lambda_has_its_place_inlined_or_not(self):
        with open(self.path("lambda.cc"), "w", encoding="ascii") as file:
            file.write("""int main(int argc, char **)
{
	volatile int sum = 0;
	auto inlined = [&](int y) {
		sum = sum + y * argc;
	};
	auto called = [&](int y) __attribute__((noinline)) {
		sum = sum ^ y;
	};
	inlined(argc);
	called(argc);
}
""")
        for compiler in ("gcc", "clang"):
            with self.subTest(compiler=compiler):
                path = self.build(f"lambda_{compiler}", "-g", compiler=compiler, source="lambda.cc")
                ranges = [place for name, place in symbols(path).items() if name.startswith(("main", "_ZZ4main"))]
                names = self.look_up(path, [at for start, size in ranges for at in range(start, start + size)])
                found = {(frame.name, frame.line) for answer in names.answers for frame in answer
                         if frame.name != "main" and frame.file == self.path("lambda.cc")}
                self.assertEqual(found, {("{lambda}::operator()", 4), ("{lambda}::operator()", 7)})

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

    def test_what_is_no_file_to_read_is_noted_and_not_waited_for(self):
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        with open(self.path("kernel32.dll"), "wb") as file:
            file.write(b"MZ" + bytes(1000))
        for path, why in ((fifo, "not a regular file"), (self.folder, "not a regular file"),
                          (self.path("missing"), "No such file"), ("/dev/zero", "not a regular"),
                          (self.path("c.c"), "not an ELF file"), (self.path("kernel32.dll"), "PE files")):
            with self.subTest(path=path):
                names = self.look_up(path, [0x1234], "-o")
                self.assertEqual(names.outer(), [os.path.basename(path) + "+0x1234"])
                self.assertEqual(len(names.notes), 1)
                self.assertIn(why, names.notes[0])

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
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:], verbosity=2)
