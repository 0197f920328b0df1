#!/usr/bin/env python3
"""Debugging information that stands in files of its own, and build ids.

usage: test_debug_files.py LOOK_UP [unittest arguments]
"""
import lzma
import os
import shutil
import socket
import sys
import unittest

from built import C_SOURCE, BuiltTest, Names, build_id, put_by_build_id, run, symbols


class DebugFilesTest(BuiltTest):
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

    def test_lines_of_installed_debug_files_can_be_left(self):
        stripped, debug, full = self.split("left")
        root = self.path("root_left")
        put_by_build_id(debug, root, build_id(full))
        address, _ = symbols(full)["outer"]
        location, = Names(stripped, [address], "-d", root, "-l").answers[0]
        self.assertEqual((location.name, location.line_file, location.line), ("outer", "?", 0))

    def test_lines_of_other_debug_files_are_not_left(self):
        """One beside the program may be built anew with it."""
        stripped, debug, full = self.split("beside")
        run("objcopy", "--add-gnu-debuglink=" + debug, stripped)
        self.check_inlined(Names(stripped, self.outer_addresses(full), "-d", self.path("root_beside"), "-l"))

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


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:], verbosity=2)
