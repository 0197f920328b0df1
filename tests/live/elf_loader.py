"""elf_loader - has a program loaded by another C library than the system's, and changes nothing else in it.

patchelf moves a program's sections about, and a program that is not position-independent does not
survive that.  Here, two strings go where the first segment's last page is padding, PT_INTERP is
pointed at one, and a spare entry of the dynamic section becomes a DT_RPATH that points at the other.
"""

import mmap
import os
import struct

PAGE = 4096
PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NULL, DT_STRTAB, DT_RPATH = 0, 5, 15


class Segment:
    """A program header of a 64-bit little-endian file."""

    SHAPE = struct.Struct("<IIQQQQQQ")

    def __init__(self, data, place):
        self.data, self.place = data, place
        (self.type, self.flags, self.offset, self.address, self.physical, self.size, self.memory,
         self.alignment) = self.SHAPE.unpack_from(data, place)

    def store(self):
        self.SHAPE.pack_into(self.data, self.place, self.type, self.flags, self.offset, self.address,
                             self.physical, self.size, self.memory, self.alignment)


def segments_of(data):
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not a 64-bit little-endian ELF file")
    first, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    return [Segment(data, first + size * index) for index in range(count)]


def put_in_padding(data, segments, strings):
    """[(offset, address)] of the strings, each ended by a NUL."""
    load = next(segment for segment in segments if segment.type == PT_LOAD)
    end = load.offset + load.size
    room = -end % PAGE
    # Mapped with the rest of its page, and the file has nothing there.
    if sum(len(string) + 1 for string in strings) > room or any(data[end:end + room]):
        raise ValueError("the first segment ends without room")
    places = []
    for string in strings:
        data[end:end + len(string) + 1] = string + b"\0"
        places.append((end, load.address + end - load.offset))
        end += len(string) + 1
    load.size = load.memory = end - load.offset
    load.store()
    return places


def set_rpath(data, dynamic, address):
    entry = struct.Struct("<QQ")
    places = range(dynamic.offset, dynamic.offset + dynamic.size, entry.size)
    entries = [entry.unpack_from(data, place) for place in places]
    strings = dict(entries)[DT_STRTAB]
    end = entries.index((DT_NULL, 0))
    if end + 1 == len(entries):
        raise ValueError("the dynamic section has no spare entry")
    entry.pack_into(data, places[end], DT_RPATH, address - strings)


def dynamic_of(segments):
    return next(segment for segment in segments if segment.type == PT_DYNAMIC)


def set_loader(path, loader, library_folder):
    """The program at path is loaded by loader, and finds its libraries in library_folder first."""
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as data:
        segments = segments_of(data)
        interpreter = next(segment for segment in segments if segment.type == PT_INTERP)
        strings = [os.fsencode(loader), os.fsencode(library_folder)]
        (offset, address), (_, folder_address) = put_in_padding(data, segments, strings)
        interpreter.offset, interpreter.size, interpreter.memory = offset, len(strings[0]) + 1, len(strings[0]) + 1
        interpreter.address = interpreter.physical = address
        interpreter.store()
        set_rpath(data, dynamic_of(segments), folder_address)


def set_library_folder(path, library_folder):
    """The program at path, or what it loads, finds its libraries in library_folder first."""
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as data:
        segments = segments_of(data)
        (_, address), = put_in_padding(data, segments, [os.fsencode(library_folder)])
        set_rpath(data, dynamic_of(segments), address)
