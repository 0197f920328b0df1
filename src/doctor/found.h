/*
 * found - the interpreters that PATH has, and whether their frames come into stacks.
 */
#pragma once

struct checks;

/*
 * Nothing that is found is run, but for the system's own dynamic linker, which lists the
 * libraries of a program (ld.so --list).
 */
void found_check(struct checks *checks);
