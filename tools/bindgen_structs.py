"""bindgen_structs - lays out the C structures that a Rust file made by bindgen declares.

For sources that cannot be compiled here: rbspy publishes such a file for each release of CRuby.
"""

import re

PRIMITIVES = {"u8": 1, "i8": 1, "bool": 1, "u16": 2, "i16": 2, "u32": 4, "i32": 4, "f32": 4, "u64": 8, "i64": 8,
              "f64": 8, "usize": 8, "isize": 8, "u128": 16, "c_char": 1, "c_schar": 1, "c_uchar": 1, "c_short": 2,
              "c_ushort": 2, "c_int": 4, "c_uint": 4, "c_long": 8, "c_ulong": 8, "c_longlong": 8, "c_ulonglong": 8,
              "c_double": 8, "c_float": 4}


def split(text):
    """The parts between the commas that are in no brackets."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([{<") - (letter in ")]}")
        depth -= letter == ">" and text[place - 1] != "-"
        if letter == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


class Structures:
    """The types of one file."""

    def __init__(self, text):
        self.aliases = dict(re.findall(r"^pub type (\w+) =\s(.*?);$", text, re.M | re.S))
        self.constants = {name: int(value) for name, value in
                          re.findall(r"^pub const (\w+): \w+ = (-?\d+);", text, re.M)}
        self.members = {}
        self.unions = set()
        for kind, name, body in re.findall(r"^pub (struct|union) (\w+) \{\n(.*?)^\}", text, re.M | re.S):
            fields = (field.removeprefix("pub ").partition(":") for field in split(body))
            self.members[name] = [(field.strip(), kind_of.strip()) for field, _, kind_of in fields]
            if kind == "union":
                self.unions.add(name)
        self.layouts = {}

    def resolved(self, name):
        name = name.removeprefix("struct ")
        while name in self.aliases and name not in self.members and re.fullmatch(r"[\w:]+", self.aliases[name]):
            name = self.aliases[name].rpartition("::")[2]
        return name

    def size_and_alignment(self, text):
        text = text.strip()
        if text.startswith(("*", "Option", "::std::option::Option", "::core::option::Option", "unsafe extern")):
            return 8, 8
        array = re.fullmatch(r"\[(.*);\s*(\d+)(?:usize)?\]", text, re.S)
        if array:
            size, alignment = self.size_and_alignment(array[1])
            return size * int(array[2]), alignment
        unit = re.fullmatch(r"__BindgenBitfieldUnit<(\[.*?\])(?:,\s*\w+)?>", text)
        if unit:
            return self.size_and_alignment(unit[1])[0], 1
        plain = re.sub(r"<.*>", "", text).rpartition("::")[2]
        if plain in PRIMITIVES:
            return PRIMITIVES[plain], PRIMITIVES[plain]
        if plain in ("__IncompleteArrayField", "PhantomData", "c_void"):
            return 0, 1
        name = self.resolved(plain)
        if name in self.members:
            return self.layout(name)[1:]
        if name not in self.aliases and name == plain:
            raise ValueError(f"{text!r}: not known what that is")
        return self.size_and_alignment(self.aliases.get(name, name))

    def layout(self, name):
        """({member: (offset, type)}, size, alignment)"""
        if name not in self.layouts:
            offset, size, most, found = 0, 0, 1, {}
            for member, text in self.members[name]:
                length, alignment = self.size_and_alignment(text)
                offset = -(-offset // alignment) * alignment
                found[member] = offset, text
                size, most = max(size, offset + length), max(most, alignment)
                offset = 0 if name in self.unions else offset + length
            self.layouts[name] = found, -(-size // most) * most, most
        return self.layouts[name]

    def member(self, name, member):
        """(offset, type) of a member, or None.  Those of unnamed structures are their outer ones'."""
        found = self.layout(name)[0]
        for spelled in (member, f"{member}_"):
            if spelled in found:
                return found[spelled]
        for inner, (offset, text) in found.items():
            if inner.startswith("__bindgen_anon"):
                deeper = self.member(self.resolved(text), member)
                if deeper:
                    return offset + deeper[0], deeper[1]
        return None

    def offset(self, name, path):
        """Of a member of a type, as in C: "as.heap.ptr"; None if there is none."""
        total, text = 0, name
        for member in path.split("."):
            name = self.resolved(text)
            found = self.member(name, member) if name in self.members else None
            if found is None:
                return None
            total, text = total + found[0], found[1]
        return total

    def member_size(self, name, member):
        return self.size_and_alignment(self.member(self.resolved(name), member)[1])[0]

    def size(self, name):
        name = self.resolved(name)
        return self.size_and_alignment(name)[0] if name in self.members else None
