"""generate - makes the inputs that live tests and bench feed to real programs.

The same arguments make the same bytes: no randomness but a seeded one.
"""

import os
import random


def c_source(functions, seed=1):
    """A C file that keeps a compiler busy: loops, switches, structs, callers of one another."""
    draw = random.Random(seed)
    lines = ["#include <stdio.h>", "#include <stdlib.h>", "#include <string.h>",
             f"struct record_{seed} {{ int kind; double value; char text[32]; }};"]
    for number in range(functions):
        cases = "\n".join(f"\t\tcase {case}: sum += r[i].value * {draw.randint(2, 99)} + i; break;"
                          for case in range(draw.randint(6, 14)))
        callee = (f"sum += work_{seed}_{draw.randrange(number)}(r, n / 2);" if number else "sum += 1;")
        lines.append(f"""
double work_{seed}_{number}(struct record_{seed} *r, int n)
{{
	double sum = {draw.randint(1, 9)};
	for (int i = 0; i < n; i++) {{
		switch (r[i].kind % {draw.randint(5, 15)}) {{
{cases}
		default: sum -= strlen(r[i].text) * {draw.random():.3f}; break;
		}}
		for (int k = i; k > 0; k /= {draw.randint(2, 5)})
			sum += r[k % n].value * k;
	}}
	if (n > 1)
		{callee}
	return sum;
}}""")
    return "\n".join(lines) + "\n"


def make_project(folder, files=12, functions=40):
    """A project of small C files with a Makefile; returns the command that builds it."""
    os.makedirs(folder, exist_ok=True)
    for number in range(1, files + 1):
        with open(os.path.join(folder, f"part{number}.c"), "w") as file:
            file.write(c_source(functions, seed=number))
    objects = " ".join(f"part{number}.o" for number in range(1, files + 1))
    with open(os.path.join(folder, "main.c"), "w") as file:
        file.write("int main(void) { return 0; }\n")
    with open(os.path.join(folder, "Makefile"), "w") as file:
        file.write(f"all: program\nprogram: main.o {objects}\n\tgcc -o $@ $^\n"
                   "%.o: %.c\n\tgcc -O2 -c -o $@ $<\n"
                   f"clean:\n\trm -f program main.o {objects}\n")
    return ["make", "-s", "-j2", "-C", folder]


def text_file(path, megabytes, seed=7):
    """Words, numbers and some noise: compresses about as text does."""
    draw = random.Random(seed)
    words = ["".join(draw.choices("etaoinshrdlucmfwyp", k=draw.randint(2, 9))) for _ in range(4000)]
    with open(path, "w") as file:
        written = 0
        while written < megabytes << 20:
            line = " ".join(draw.choices(words, k=12)) + f" {draw.getrandbits(40)}\n"
            written += file.write(line)
