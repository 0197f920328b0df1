/*
 * tls_find - where the thread-local variable is that a function reads.
 *
 * Such a function may not be called in a signal's handler: in a library that may mean a call of
 * __tls_get_addr(), which allocates the first time.  So the place is read out of the
 * function's code, and the variable without the function.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/tls_variable.h"

struct elf_file;
struct elf_file_symbol;

/*
 * Follows the function's code up to its first load of a thread-local variable.  False when it
 * has instructions that no compiler was seen to write there.
 */
bool tls_find(struct elf_file *elf, const struct elf_file_symbol *function,
	      struct tls_variable *out_tls);

/* How the function goes on from the variable, if it does: variable->…[0]->…[1]. */
#define TLS_LOADS 4
struct tls_loads {
	int64_t offsets[TLS_LOADS];
	size_t count;
};

/* The same, and how it goes on, as far as that is known. */
bool tls_find_loads(struct elf_file *elf, const struct elf_file_symbol *function,
		    struct tls_variable *out_tls, struct tls_loads *out_loads);
