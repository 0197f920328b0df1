/* found - checks the interpreters in PATH, and whether their frames can be shown in stacks. */
#pragma once

struct checks;

/*
 * Executes nothing that it finds, only the system's dynamic linker, which lists a program's
 * libraries (ld.so --list).
 */
void found_check(struct checks *checks);
