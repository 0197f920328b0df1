/*
 * pprof_mappings - writes a profile's modules as mappings of a pprof Profile.
 *
 * Addresses are the module's own (ELF virtual addresses), as it may be mapped elsewhere in each
 * process. For these pprof requires a mapping that begins at 0 and covers everything: "the
 * address has already been adjusted" (internal/elfexec, GetBase).
 */
#pragma once
#include <stdint.h>

struct function;
struct pprof_writer;
struct profile;

/* The mapping id for a function's code: 0 if it is not machine code of a file. */
uint32_t pprof_mapping_of(const struct function *function);
/* Writes the mappings that functions use, the program's first. */
void pprof_write_mappings(struct pprof_writer *writer, const struct profile *profile);
