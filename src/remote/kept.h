/* kept - caches of facts about a process, so that it is searched only once. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"

/* Names of its variables: data_names.h. Zero-initialized is empty. */
struct data_names {
	struct table files;      /* by an image's start, to struct elf_objects * */
	struct table by_address; /* to a name, or NULL */
};

/*
 * Where PostgreSQL records what it waits for: postgres_wait.h. Zero-initialized: not searched
 * yet.
 */
struct postgres {
	bool is_known, is_postgres;
	bool has_scanned;                 /* for the array of lightweight locks */
	uint64_t event;                   /* addresses: of the pointer to the event */
	uint64_t lock_names;              /* 0: there are none */
	uint64_t first_names, more_names; /* lightweight locks' name arrays */
	uint32_t first_count;
};
