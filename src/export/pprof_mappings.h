/*
 * pprof_mappings - a profile's modules as the mappings of a pprof Profile.
 *
 * Addresses are the module's own (ELF virtual addresses): the same module lies
 * elsewhere in each process, and the profile has all of them.  pprof then wants a
 * mapping that begins at 0 and covers everything: "the address has already been
 * adjusted" (internal/elfexec, GetBase).
 */
#pragma once
#include <stdint.h>

struct function;
struct pprof_writer;
struct profile;

/* The id of the mapping of a function's code: 0 for what is no file's machine code. */
uint32_t pprof_mapping_of(const struct function *function);
/* Those that a function is in, the program's first. */
void pprof_write_mappings(struct pprof_writer *writer, const struct profile *profile);
