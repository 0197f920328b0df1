#include "export/gzip.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "export/sink.h"

#define GZIP_WINDOW  (15 + 16) /* zlib: the largest window, and a gzip header */
#define MEMORY_LEVEL 8         /* zlib's default */

static void *allocate(void *context, unsigned int count, unsigned int size)
{
	(void)context;
	return xreallocarray(NULL, count, size);
}

static void release(void *context, void *memory)
{
	(void)context;
	free(memory);
}

void gzip_init(struct gzip *gzip, const struct sink *sink)
{
	*gzip = (struct gzip){ .sink = sink,
			       .stream = { .zalloc = allocate, .zfree = release } };
	/* Fails only for lack of memory, which ends the tool, or for wrong constants. */
	deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
		     MEMORY_LEVEL, Z_DEFAULT_STRATEGY);
}

static int compress_piece(struct gzip *gzip, const void *bytes, unsigned int len, int mode,
			  struct error *err)
{
	uint8_t out[16384];

	gzip->stream.next_in = (z_const Bytef *)bytes;
	gzip->stream.avail_in = len;
	do {
		gzip->stream.next_out = out;
		gzip->stream.avail_out = sizeof out;
		if (deflate(&gzip->stream, mode) == Z_STREAM_ERROR)
			return error_set(err, -EIO, "cannot compress the export");
		int rc = gzip->sink->write(gzip->sink->context, out,
					   sizeof out - gzip->stream.avail_out, err);
		if (rc < 0)
			return rc;
	} while (gzip->stream.avail_out == 0);
	return 0;
}

static int write_to_gzip(void *context, const void *bytes, size_t len, struct error *err)
{
	const uint8_t *at = bytes;

	while (len > 0) {
		unsigned int piece = len < 1U << 30 ? (unsigned int)len : 1U << 30;
		int rc = compress_piece(context, at, piece, Z_NO_FLUSH, err);
		if (rc < 0)
			return rc;
		at += piece;
		len -= piece;
	}
	return 0;
}

struct sink gzip_sink(struct gzip *gzip)
{
	return (struct sink){ .write = write_to_gzip, .context = gzip };
}

int gzip_done(struct gzip *gzip, int rc, struct error *err)
{
	if (rc == 0)
		rc = compress_piece(gzip, NULL, 0, Z_FINISH, err);
	deflateEnd(&gzip->stream);
	return rc;
}
