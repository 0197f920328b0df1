"""Debugging information that unpacks to gigabytes costs its lines, not the report."""

import contextlib
import os
import sqlite3
import struct
import subprocess
import zlib

import live
from live import FATHOM
from live_programs import ProgramsTest

BURN = """
static volatile unsigned long sink;
__attribute__((noinline)) void burn(void) { for (unsigned long i = 0; i < 200000000; i++) sink += i; }
int main(void) { burn(); return 0; }
"""
SHF_COMPRESSED, ELFCOMPRESS_ZLIB = 0x800, 1
GIB = 1 << 30
PIECE = 1 << 20


def zeros(size):
    """A zlib stream of so many zeros, a whole number of pieces, but for its checksum's truth."""
    compressor = zlib.compressobj(9)
    head = compressor.compress(bytes(PIECE)) + compressor.flush(zlib.Z_FULL_FLUSH)
    piece = compressor.compress(bytes(PIECE)) + compressor.flush(zlib.Z_FULL_FLUSH)
    return head + piece * (size // PIECE - 1) + compressor.flush()


def add_section(path, name, flags, data):
    """Gives an ELF file (64 bits, little-endian) one more section."""
    with open(path, "rb") as file:
        elf = bytearray(file.read())
    table, = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<HHH", elf, 58)
    headers = [bytearray(elf[table + i * size:table + (i + 1) * size]) for i in range(count)]
    offset, length = struct.unpack_from("<QQ", headers[names], 24)
    strings = elf[offset:offset + length] + name + b"\0"
    struct.pack_into("<QQ", headers[names], 24, len(elf), len(strings))
    elf += strings
    elf += bytes(-len(elf) % 8)
    headers.append(struct.pack("<IIQQQQIIQQ", length, 1, flags, 0, len(elf), len(data), 0, 0, 8, 0))
    elf += data
    elf += bytes(-len(elf) % 8)
    struct.pack_into("<Q", elf, 40, len(elf))
    struct.pack_into("<H", elf, 60, count + 1)
    with open(path, "wb") as file:
        file.write(elf + b"".join(headers))


class Unpacking(ProgramsTest):

    def forget_names(self, recording):
        """They were looked up when it was recorded."""
        with contextlib.closing(sqlite3.connect(recording.path)) as database, database:
            for table in "locations", "functions", "notes":
                database.execute(f"DELETE FROM {table}")
            database.execute("DELETE FROM facts WHERE key = 'symbolized'")

    def assert_reported(self, program, limit):
        recording = self.record([program], rate=1000)
        self.forget_names(recording)
        done = subprocess.run(["prlimit", f"--as={limit}", FATHOM, "report", recording.path], capture_output=True,
                              text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("burn", done.stdout)
        self.assertIn("GiB unpacked", done.stdout)

    def test_sections_that_unpack_to_gigabytes(self):
        self.need("prlimit")
        size = 3 * GIB
        header = struct.pack("<IIQQ", ELFCOMPRESS_ZLIB, 0, size, 1)
        for name, flags, head in ((b".debug_types", SHF_COMPRESSED, header),
                                  (b".zdebug_types", 0, b"ZLIB" + struct.pack(">Q", size))):
            for limit in 2 * GIB, 8 * GIB:
                with self.subTest(name=name, limit=limit):
                    program = self.build_text(f"unpacks{name.decode()}-{limit}", BURN, "-g")
                    add_section(program, name, flags, head + zeros(size))
                    self.assertLess(os.path.getsize(program), 8 << 20)
                    self.assert_reported(program, limit)


if __name__ == "__main__":
    live.main()
