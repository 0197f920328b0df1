/*
 * mappings - the executable mappings of one process image over time.
 *
 * An address is looked up among the mappings at a sample's time: when a mapping replaces
 * another (dlclose and dlopen), a new era begins, and the replaced one is kept for older
 * samples.  Most images have one era only.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module_place {
	uint64_t start, end, file_offset;
	uint64_t from_ns, to_ns; /* to: UINT64_MAX while it is mapped */
	bool has_file;           /* false: JIT code and the like, known by address */
	uint32_t module;         /* the recording's id */
	const char *path;        /* of a file, or NULL; valid as long as the session */
	uint32_t row;            /* of the recording's mapping; 0: not written yet */
	uint8_t build_id_len;    /* as the kernel read it when it was mapped; 0: it did not */
	uint8_t build_id[20];
};

struct mappings;

struct mappings *mappings_new(void);
/* The mappings that a forked child begins with: those that exist at this moment. */
struct mappings *mappings_copy(const struct mappings *mappings);
void mappings_free(struct mappings *mappings);

/* Whether there already is the same mapping. */
bool mappings_has(const struct mappings *mappings, const struct module_place *place);
void mappings_add(struct mappings *mappings, const struct module_place *place);
/*
 * Forgets mappings that ended before that moment, once there are enough: addresses in older
 * samples are then found only in those that still exist.
 */
void mappings_forget(struct mappings *mappings, uint64_t before_ns);
/* The era of a moment: addresses have one meaning throughout an era. */
uint32_t mappings_era(const struct mappings *mappings, uint64_t time_ns);
/* The mapping at the address in that era, or NULL.  Valid until the next mappings_add(). */
struct module_place *mappings_find(struct mappings *mappings, uint64_t address, uint32_t era);
/* All mappings that are not forgotten, i from 0; NULL at the end. */
struct module_place *mappings_at(struct mappings *mappings, size_t i);
