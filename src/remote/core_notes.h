/*
 * core_notes - the notes of a core file: threads, the signal, mapped files, the auxiliary vector.
 *
 * Layouts are the kernel's (linux/elfcore.h, fs/binfmt_elf.c), of the machine that fathom runs on.
 */
#pragma once
#include <stddef.h>

struct core_file;

/* Adds what the notes say; what is cut short or no note of the kernel's is left out. */
void core_notes_read(struct core_file *core, const void *notes, size_t len);
