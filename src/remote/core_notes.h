/*
 * core_notes - parses the notes of a core file: threads, the signal, mapped files, the
 * auxiliary vector.
 *
 * Layouts are the kernel's (linux/elfcore.h, fs/binfmt_elf.c), for the machine that fathom runs
 * on.
 */
#pragma once
#include <stddef.h>

struct core_file;

/*
 * Adds what the notes contain; truncated notes and those that the kernel does not define are
 * skipped.
 */
void core_notes_read(struct core_file *core, const void *notes, size_t len);
