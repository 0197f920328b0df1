#include "record/header.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "record/schema.h"

static const char magic[16] = "SQLite format 3";

static uint32_t big_endian(const uint8_t *at, size_t bytes)
{
	uint32_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value = value << 8 | at[i];
	return value;
}

static int refuse_foreign(const uint8_t *at, size_t len, const char *name, struct error *err)
{
	if (len == 0)
		return error_set(err, -ENODATA,
				 "%s: empty: its recorder was stopped before anything was "
				 "written; record again",
				 name);
	if (memcmp(at, magic, len < sizeof magic ? len : sizeof magic) != 0)
		return error_set(err, -ENOEXEC,
				 "%s: not a recording (it does not begin as an SQLite database "
				 "does); name a file that 'fathom record' made",
				 name);
	if (len < HEADER_BYTES)
		return error_set(
			err, -EBADMSG,
			"%s: cut short: %zu bytes are not even a header; copy it again "
			"from where it was recorded",
			name, len);
	if (big_endian(at + 68, 4) != RECORDING_APPLICATION_ID)
		return error_set(err, -ENOEXEC,
				 "%s: an SQLite database of another program (application id "
				 "0x%08" PRIx32 "); name a file that 'fathom record' made",
				 name, big_endian(at + 68, 4));
	return 0;
}

int header_parse(const void *data, size_t len, const char *name, struct header *out_header,
		 struct error *err)
{
	const uint8_t *at = data;
	int rc = refuse_foreign(at, len, name, err);

	if (rc < 0)
		return rc;
	if (big_endian(at + 60, 4) > RECORDING_SCHEMA_VERSION)
		return error_set(err, -EPROTONOSUPPORT,
				 "%s: made by a newer fathom (schema version %" PRIu32
				 ", this one reads %d); read it with that version",
				 name, big_endian(at + 60, 4), RECORDING_SCHEMA_VERSION);
	/* Version 0 or another encoding: no writer of ours produces these. */
	if (big_endian(at + 60, 4) == 0 || big_endian(at + 16, 2) != RECORDING_PAGE_SIZE ||
	    big_endian(at + 56, 4) != 1 || at[18] < 1 || at[18] > 2 || at[18] != at[19])
		return error_set(err, -EBADMSG,
				 "%s: damaged: its header is not that of a recording; copy it "
				 "again from where it was recorded",
				 name);
	*out_header =
		(struct header){ .page_size = RECORDING_PAGE_SIZE, .is_wal = at[18] == 2 };
	/* The page count is valid if its version equals the change counter. */
	if (big_endian(at + 92, 4) == big_endian(at + 24, 4))
		out_header->page_count = big_endian(at + 28, 4);
	return 0;
}

int header_check_size(const struct header *header, uint64_t file_bytes, const char *name,
		      struct error *err)
{
	uint64_t due = (uint64_t)header->page_count * header->page_size;

	if (file_bytes >= due)
		return 0;
	return error_set(err, -EBADMSG,
			 "%s: cut short: %" PRIu64 " of %" PRIu64
			 " bytes are there; copy it again from where it was recorded",
			 name, file_bytes, due);
}
