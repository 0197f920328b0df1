/*
 * tls_find - finds the thread-local variable that a function reads.
 *
 * Such a function must not be called in a signal handler: in a library it may call
 * __tls_get_addr(), which allocates on first use. So the variable's location is determined from
 * the function's code, and read without calling it.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/tls_variable.h"

struct elf_file;
struct elf_file_symbol;

/*
 * Interprets the function's code up to its first load of a thread-local variable. False if it
 * has instructions that compilers were not seen to generate there.
 */
bool tls_find(struct elf_file *elf, const struct elf_file_symbol *function,
	      struct tls_variable *out_tls);

/* Loads that the function continues with from the variable: variable->…[0]->…[1]. */
#define TLS_LOADS 4
struct tls_loads {
	int64_t offsets[TLS_LOADS];
	size_t count;
};

/* Likewise, including these loads, as far as known. */
bool tls_find_loads(struct elf_file *elf, const struct elf_file_symbol *function,
		    struct tls_variable *out_tls, struct tls_loads *out_loads);
