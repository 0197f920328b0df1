/*
 * header - parses the first bytes of a file to decide whether it is a recording, before SQLite
 * opens it.
 *
 * Pure: no I/O. https://www.sqlite.org/fileformat2.html section 1.3.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

#define HEADER_BYTES 100

struct header {
	uint32_t page_size;
	uint32_t page_count; /* 0: the header does not contain it */
	bool is_wal;         /* the newest pages may still be in a journal */
};

/*
 * Parses the first len bytes (HEADER_BYTES, fewer if the file is shorter) of the file called
 * name. -ENODATA: empty; -ENOEXEC: no recording; -EPROTONOSUPPORT: made by a newer fathom;
 * -EBADMSG: damaged.
 */
int header_parse(const void *data, size_t len, const char *name, struct header *out_header,
		 struct error *err);
/* -EBADMSG and a sentence if a file of file_bytes is shorter than its header says. */
int header_check_size(const struct header *header, uint64_t file_bytes, const char *name,
		      struct error *err);
