"""A JSON parser in pure Python, of classes, generators and exceptions, and a document for it.  Run by counted.py."""

import io
import re
import sys


class Broken(ValueError):
    def __init__(self, message, place):
        super().__init__("%s at %d" % (message, place))
        self.place = place


class Token:
    __slots__ = ("kind", "value", "place")

    def __init__(self, kind, value, place):
        self.kind, self.value, self.place = kind, value, place

    def __eq__(self, kind):
        return self.kind == kind


class Lexer:
    PATTERN = re.compile(r'\s*(?:([{}\[\]:,])|(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|"((?:[^"\\]|\\.)*)"|(true|false|null))')
    WORDS = {"true": True, "false": False, "null": None}
    ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "/": "/"}

    def __init__(self, text):
        self.text = text

    @staticmethod
    def number(text):
        return float(text) if any(letter in text for letter in ".eE") else int(text)

    @classmethod
    def unescape(cls, match):
        letter = match.group(1)
        return chr(int(letter[1:], 16)) if letter[0] == "u" else cls.ESCAPES[letter]

    def string(self, text):
        return re.sub(r"\\(u[0-9a-f]{4}|.)", self.unescape, text)

    def __iter__(self):
        place = 0
        while True:
            match = self.PATTERN.match(self.text, place)
            if match is None:
                if self.text[place:].strip():
                    raise Broken("no token", place)
                return
            mark, number, string, word = match.groups()
            if mark:
                yield Token(mark, mark, place)
            elif number:
                yield Token("number", self.number(number), place)
            elif word:
                yield Token("word", self.WORDS[word], place)
            else:
                yield Token("string", self.string(string), place)
            place = match.end()


class Parser:
    def __init__(self, text, hook=None):
        self.tokens = iter(Lexer(text))
        self.hook = hook or (lambda pairs: dict(pairs))
        self.token = None
        self.advance()

    def advance(self):
        token, self.token = self.token, next(self.tokens, None)
        return token

    @property
    def kind(self):
        return self.token.kind if self.token is not None else "end"

    def expect(self, kind):
        if not self.token == kind:
            raise Broken("%s expected" % kind, self.token.place if self.token else -1)
        return self.advance()

    def items(self, close, item):
        while self.kind != close:
            yield item()
            if self.kind != close:
                self.expect(",")
        self.expect(close)

    def pair(self):
        key = self.expect("string").value
        self.expect(":")
        return key, self.value()

    def value(self):
        kind = self.kind
        if kind == "{":
            self.advance()
            return self.hook(self.items("}", self.pair))
        if kind == "[":
            self.advance()
            return [*self.items("]", self.value)]
        if kind in ("number", "string", "word"):
            return self.advance().value
        raise Broken("a value expected, not %s" % kind, -1)


def write(value, out, depth=0):
    if isinstance(value, dict):
        out.write("{")
        for number, (key, inner) in enumerate(sorted(value.items())):
            out.write("," * bool(number) + '"%s": ' % key)
            write(inner, out, depth + 1)
        out.write("}")
    elif isinstance(value, list):
        out.write("[")
        for number, inner in enumerate(value):
            out.write("," * bool(number))
            write(inner, out, depth + 1)
        out.write("]")
    elif isinstance(value, str):
        out.write('"%s"' % value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n"))
    else:
        out.write({True: "true", False: "false", None: "null"}.get(value) if value in (True, False, None) and
                  not isinstance(value, (int, float)) or isinstance(value, bool) else repr(value))


def document(entries):
    return {"name": 'a "quoted"\nname', "entries": [
        {"id": number, "half": number / 2, "tags": ["t%d" % tag for tag in range(number % 7)], "parent": None if number % 3 else
         {"id": number - 1, "is_old": number % 2 == 0}} for number in range(entries)]}


def main():
    out = io.StringIO()
    write(document(300), out)
    text = out.getvalue()
    parsed = Parser(text).value()
    again = io.StringIO()
    write(parsed, again)
    assert again.getvalue() == text
    keys = []
    Parser(text, hook=lambda pairs: keys.extend(key for key, _ in pairs)).value()
    assert len(keys) == 300 * 4 + 100 * 2 + 2, len(keys)
    for broken in ("[1, 2", "{1: 2}", '{"a" 1}', "[,]", "nope", '["\\u0041", ' * 40):
        try:
            Parser(broken).value()
        except Broken:
            pass
        else:
            raise AssertionError(broken)


main()
sys.stdout.flush()
