"""elf_loader - has a program loaded by another C library than the system's, and changes nothing else in it.

patchelf moves a program's sections about, and a program that is not position-independent does not
survive that.  Here, two strings go where the first segment's last page is padding, PT_INTERP is
pointed at one, and a spare entry of the dynamic section becomes a DT_RPATH that points at the other.
Where that page is full, the strings are a page of their own at the file's end: the last PT_NOTE
becomes the PT_LOAD that maps it.
"""

import mmap
import os
import struct

PAGE = 4096
PT_LOAD, PT_DYNAMIC, PT_INTERP, PT_NOTE = 1, 2, 3, 4
PF_R = 4
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


def is_padding_enough(data, load, size):
    end = load.offset + load.size
    # Mapped with the rest of its page, and the file has nothing there.
    return size <= -end % PAGE and not any(data[end:end + -end % PAGE])


def map_page_at_end(data, segments, size):
    """The PT_LOAD of a new page, above all others; the kernel wants them in the order of addresses."""
    loads = [segment for segment in segments if segment.type == PT_LOAD]
    notes = [segment for segment in segments if segment.type == PT_NOTE and segment.place > loads[-1].place]
    if size > PAGE or not notes:
        raise ValueError("the first segment ends without room, and no PT_NOTE follows the segments")
    added, offset = notes[-1], len(data) + -len(data) % PAGE
    data.resize(offset + PAGE)
    end = max(load.address + load.memory for load in loads)
    added.type, added.flags, added.alignment = PT_LOAD, PF_R, PAGE
    added.offset, added.size, added.memory = offset, 0, 0
    added.address = added.physical = end + -end % PAGE
    return added


def put(data, segments, strings):
    """[(offset, address)] of the strings, each ended by a NUL."""
    size = sum(len(string) + 1 for string in strings)
    load = next(segment for segment in segments if segment.type == PT_LOAD)
    if not is_padding_enough(data, load, size):
        load = map_page_at_end(data, segments, size)
    places = []
    for string in strings:
        end = load.offset + load.size
        data[end:end + len(string) + 1] = string + b"\0"
        places.append((end, load.address + load.size))
        load.size += len(string) + 1
    load.memory = load.size
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
        (offset, address), (_, folder_address) = put(data, segments, strings)
        interpreter.offset, interpreter.size, interpreter.memory = offset, len(strings[0]) + 1, len(strings[0]) + 1
        interpreter.address = interpreter.physical = address
        interpreter.store()
        set_rpath(data, dynamic_of(segments), folder_address)


def set_library_folder(path, library_folder):
    """The program at path, or what it loads, finds its libraries in library_folder first."""
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as data:
        segments = segments_of(data)
        (_, address), = put(data, segments, [os.fsencode(library_folder)])
        set_rpath(data, dynamic_of(segments), address)
