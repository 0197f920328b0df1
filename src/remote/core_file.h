/*
 * core_file - an ELF core file: the memory, the threads and their registers, and the signal.
 *
 * Made by the kernel, by gdb's gcore, or by anything else: whatever its bytes are, what is here is
 * bounded by the file's size.  What the core leaves out of memory is in the files that were
 * mapped: core_memory.h.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "remote/core_contents.h"

struct error;

/*
 * On success core_file_close().  Else a negative errno and a sentence: it cannot be read, is no core
 * (compressed ones are recognised), is of another machine, is cut off before its threads, or does
 * not say which files were mapped.
 */
int core_file_open(const char *path, struct core_file *out_core, struct error *err);
void core_file_close(struct core_file *core);

/*
 * Copies the page at address, a multiple of the page's size; false: the core has not all of it
 * that the process had.
 */
bool core_file_read_page(const struct core_file *core, uint64_t address, void *page);
/* The segment or mapping that has the address, or NULL. */
const struct core_segment *core_file_segment(const struct core_file *core, uint64_t address);
const struct core_mapping *core_file_mapping(const struct core_file *core, uint64_t address);
