/*
 * kept - what was found out about a process, so that it need not be looked for again.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"

/* What its variables are called: data_names.h.  Zero-initialized knows none. */
struct data_names {
	struct table files;      /* by an image's start, to struct elf_objects * */
	struct table by_address; /* to a name, or NULL */
};

/* Where PostgreSQL keeps what it waits for: postgres_wait.h.  Zero-initialized has not been looked for. */
struct postgres {
	bool is_known, is_postgres;
	bool has_scanned;                 /* for the lightweight locks' array */
	uint64_t event;                   /* addresses: of the pointer to the event */
	uint64_t lock_names;              /* 0: there are none */
	uint64_t first_names, more_names; /* of lightweight locks */
	uint32_t first_count;
};
