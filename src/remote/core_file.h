/*
 * core_file - reads an ELF core file: memory, threads and their registers, and the signal.
 *
 * The kernel, gdb's gcore or any other program may have written it. Everything returned is
 * bounded by the file's size, whatever its bytes say. Memory that the core leaves out is in the
 * files that were mapped: core_memory.h.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "remote/core_contents.h"

struct error;

/*
 * On success core_file_close(). Else a negative errno and a sentence: the file cannot be read,
 * is no core (compressed ones are recognised), is of another machine, is cut off before its
 * threads, or does not list the mapped files.
 */
int core_file_open(const char *path, struct core_file *out_core, struct error *err);
void core_file_close(struct core_file *core);

/*
 * Copies the page at address, a multiple of the page size; false unless the core has every byte
 * of the page that the process had.
 */
bool core_file_read_page(const struct core_file *core, uint64_t address, void *page);
/* The segment or mapping that has the address, or NULL. */
const struct core_segment *core_file_segment(const struct core_file *core, uint64_t address);
const struct core_mapping *core_file_mapping(const struct core_file *core, uint64_t address);
