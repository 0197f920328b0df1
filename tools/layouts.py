"""layouts - where an interpreter's versions keep things, asked of debug information by gdb.

For the programs that make src/target/*_offsets.h: a field is looked for in several ways, the newest
version's first, and a header consists of rows, of which only those that are asked for are made anew.
"""

import json
import pathlib
import re
import subprocess
import tempfile

# Run inside gdb: evaluates the expressions of a JSON file, null for what there is not.
IN_GDB = """
import gdb, json
def value(expression):
    try:
        return int(gdb.parse_and_eval(expression))
    except gdb.error:
        return None
with open({questions!r}) as file:
    questions = json.load(file)
with open({answers!r}, "w") as file:
    json.dump([value(question) for question in questions], file)
"""


def expression_of(way):
    """A member of a type, "sizeof" a type, "value" of a constant, or a list of these: their sum."""
    if isinstance(way, list):
        return " + ".join(map(expression_of, way))
    if way[0] == "sizeof":
        return f"sizeof({way[1]})"
    if way[0] == "value":
        return f"(long)({way[1]})"
    return f"(unsigned long)&(({way[0]} *)0)->{way[1]}"


def ask(file, expressions):
    """The values of C expressions over the types of an ELF file."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        questions, answers = folder / "questions", folder / "answers"
        questions.write_text(json.dumps(expressions))
        (folder / "ask.py").write_text(
            IN_GDB.format(questions=str(questions), answers=str(answers)))
        subprocess.run(["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-x",
                        folder / "ask.py", file], check=True, stdout=subprocess.DEVNULL)
        return json.loads(answers.read_text())


def find(file, *tables):
    """For each table the value of each name, found in the first way that there is, or None."""
    asked = [(number, name, expression_of(way)) for number, table in enumerate(tables)
             for name, ways in table.items() for way in ways]
    found = [dict.fromkeys(table) for table in tables]
    for (number, name, _), value in zip(asked, ask(file, [question for *_, question in asked])):
        if found[number][name] is None:
            found[number][name] = value
    return found


def joined(pieces, width):
    """The pieces in lines, as many in each as there is room for behind three tabs."""
    line = ""
    for piece in pieces:
        if len("\t\t\t".expandtabs(8)) + len(line) + len(piece) > width:
            yield line.rstrip()
            line = ""
        line += piece
    yield line.rstrip()


def lines_of(values):
    """Designated initializers, as many in a line as there is room for."""
    return joined((f".{name} = {'NONE' if value is None else value}, " for name, value in values.items()), 96)


class Header:
    """A header whose rows begin with a comment that names a version: { /* 3.1: where from */"""

    def __init__(self, path, introduction, end):
        self.path, self.introduction, self.end = path, introduction, end

    def rows(self):
        """The text of each row that there is, by its name."""
        if not self.path.exists():
            return {}
        row = re.compile(r"^\t\{ /\* ([\w.]+): .*?^\t\},\n", re.M | re.S)
        return {match[1]: match[0] for match in row.finditer(self.path.read_text())}

    def update(self, made):
        """Writes the rows that were made, and leaves the others as they are."""
        rows = self.rows() | made
        self.path.write_text(self.introduction + "".join(rows[name] for name in sorted(rows, key=order_of)) + self.end)

    def differing(self, made):
        """The names of those that were made otherwise than they stand there, but for where from."""
        rows = self.rows()
        return [name for name, row in made.items()
                if name not in rows or without_source(rows[name]) != without_source(row)]


def order_of(name):
    """3.9, 3.10, 3.13, 3.13t."""
    return [int(part) for part in re.findall(r"\d+", name)], name


def without_source(row):
    """A row less the patch level that it was made from."""
    return row.split("*/", 1)[1]
