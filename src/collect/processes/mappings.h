/*
 * mappings - what was executable where in one process image, and when.
 *
 * An address means what was mapped there then: when a mapping takes the place of another
 * (dlclose and dlopen), a new era begins, and the older one is kept for samples that are
 * older.  Most images live and die in one era.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module_place {
	uint64_t start, end, file_offset;
	uint64_t from_ns, to_ns; /* to: UINT64_MAX while it stands */
	bool has_file;           /* false: JIT code and the like, known by address */
	uint32_t module;         /* the recording's id */
	const char *path;        /* of a file; lives as long as the session; NULL */
	uint32_t row;            /* of the recording's mapping; 0: not written yet */
	uint8_t build_id_len;    /* as the kernel read it when it was mapped; 0: it did not */
	uint8_t build_id[20];
};

struct mappings;

struct mappings *mappings_new(void);
/* What a child of fork begins with: what stands at this moment. */
struct mappings *mappings_copy(const struct mappings *mappings);
void mappings_free(struct mappings *mappings);

/* Whether the same already stands at the same place. */
bool mappings_has(const struct mappings *mappings, const struct module_place *place);
void mappings_add(struct mappings *mappings, const struct module_place *place);
/*
 * Forgets what ended before that moment, once it is worth while: of samples that are older
 * nothing is known any more but what stands still.
 */
void mappings_forget(struct mappings *mappings, uint64_t before_ns);
/* The era of a moment: addresses have one meaning throughout an era. */
uint32_t mappings_era(const struct mappings *mappings, uint64_t time_ns);
/* What covered the address in that era, or NULL.  Lives until the next add. */
struct module_place *mappings_find(struct mappings *mappings, uint64_t address, uint32_t era);
/* Everything that is not forgotten, i from 0; NULL at the end. */
struct module_place *mappings_at(struct mappings *mappings, size_t i);
