/*
 * maps - the memory mappings of a process.
 *
 * A `struct maps` is a snapshot: it does not follow the process.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct maps;

struct mapping {
	uint64_t start;
	uint64_t end;         /* one past the last byte */
	uint64_t file_offset; /* of start */
	bool is_readable;
	bool is_writable;
	bool is_executable;
	bool is_shared;
	bool is_deleted; /* the path no longer leads to the mapped file */
	uint32_t device_major;
	uint32_t device_minor;
	uint64_t inode; /* 0: not a file */
	const char
		*path; /* without " (deleted)"; "" anonymous; "[stack]", "[vdso]", … special */
};

/* Reads /proc/<pid>/maps.  On success *out_maps is the caller's: maps_free(). */
int maps_read(pid_t pid, struct maps **out_maps, struct error *err);
/*
 * Likewise from text. Never fails: invalid lines (incomplete, end not above start, not above
 * the mapping before) are left out and counted.
 */
struct maps *maps_parse(const char *text, size_t len);

size_t maps_count(const struct maps *maps);
/* The number of invalid lines. */
size_t maps_bad_lines(const struct maps *maps);
/* Mapping i, in the order of addresses.  Lives as long as maps does. */
const struct mapping *maps_at(const struct maps *maps, size_t i);
/* The mapping that contains addr, or NULL. Lives as long as maps does. */
const struct mapping *maps_find(const struct maps *maps, uint64_t addr);

void maps_free(struct maps *maps);
void maps_freep(struct maps **maps);
