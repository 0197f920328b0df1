/*
 * unwind_files - the files mapped by followed processes, with their code and unwind tables, and
 * a cache of unwind rules that processes share.
 *
 * A file is opened once, however many processes map it, and stays open while one does: a stack
 * can be unwound after its process has ended, and after the file was deleted.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/recent.h"
#include "remote/go_table.h"
#include "target/elf_file.h"

struct i386_rows;

struct unwind_file {
	uint32_t id; /* from 1, never reused */
	uint32_t users;
	dev_t device;
	ino_t inode;
	struct timespec changed;
	struct elf_file elf;
	struct go_table go;            /* of a Go program */
	struct elf_file_symbol frames; /* .eh_frame, if it has no index; size 0: not needed */
};

struct unwind_files {
	struct unwind_file **files;
	size_t count, capacity;
	uint32_t last_id;
	struct recent rules;
	struct i386_rows *i386_rows; /* those of 32-bit code */
};

void unwind_files_init(struct unwind_files *files);
void unwind_files_done(struct unwind_files *files);
/*
 * Opens the file that pid has mapped at this path in its own view; if the process is gone, in
 * ours. NULL: it cannot be read, is no ELF file of 64 bits or for i386, or its build id differs
 * from the one that the kernel reported (length 0: none reported). Give it back with
 * unwind_files_release().
 */
struct unwind_file *unwind_files_open(struct unwind_files *files, pid_t pid, const char *path,
				      const uint8_t *build_id, size_t build_id_len);
void unwind_files_keep(struct unwind_file *file);
void unwind_files_release(struct unwind_file *file);
