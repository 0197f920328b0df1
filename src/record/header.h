/*
 * header - the first bytes of a file: whether it is a recording, before SQLite sees it.
 *
 * Pure: no I/O.  https://www.sqlite.org/fileformat2.html section 1.3.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

#define HEADER_BYTES 100

struct header {
	uint32_t page_size;
	uint32_t page_count; /* 0: the header does not know */
	bool is_wal;         /* the newest pages may stand in a journal */
};

/*
 * Reads the first len bytes (HEADER_BYTES, fewer if the file is shorter) of the file called
 * name.  -ENODATA: empty; -ENOEXEC: something else; -EPROTONOSUPPORT: made by a newer fathom;
 * -EBADMSG: damaged.
 */
int header_parse(const void *data, size_t len, const char *name, struct header *out_header,
		 struct error *err);
/* A sentence and -EBADMSG if a file of file_bytes is shorter than its header says. */
int header_check_size(const struct header *header, uint64_t file_bytes, const char *name,
		      struct error *err);
