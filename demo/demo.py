"""What ./dev demo records: Python that calls C, a second thread, and a Ruby child."""

import ctypes
import random
import shutil
import subprocess
import sys
import threading

ROUNDS = 12
WORDS = 20_000


def make_words(seed):
    choose = random.Random(seed)
    return ["".join(choose.choices("abcdefgh", k=8)) for _ in range(WORDS)]


def count_letters(words):
    counts = {}
    for word in words:
        for letter in word:
            counts[letter] = counts.get(letter, 0) + 1
    return counts


def rank(words):
    return sorted(words, key=lambda word: (word[::-1], word))


class Ranking(threading.Thread):
    def run(self):
        for seed in range(ROUNDS):
            words = make_words(seed)
            rank(words)
            count_letters(words)


def score(library):
    """C releases the GIL: this goes on beside the ranking."""
    text = ("\n".join(make_words(1)) * 4).encode()
    return sum(library.score(text, len(text)) for _ in range(ROUNDS))


def main():
    library = ctypes.CDLL(sys.argv[1])
    library.score.restype = ctypes.c_ulong
    ranking = Ranking()
    ranking.start()
    print("score", score(library))
    ranking.join()
    if shutil.which("ruby"):
        subprocess.run(["ruby", sys.argv[2]], check=True)


main()
