#include "unpack.h"

#include <errno.h>
#include <lzma.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

#define UNPACKED_LEN_MAX (256u << 20)
/* Unpacking the output of xz -9 takes 65 MiB. */
#define DECODER_MEMORY_MAX (128u << 20)

static void stream_done(lzma_stream *stream)
{
	lzma_end(stream);
}

static int unpack_all(lzma_stream *stream, void **data, size_t *out_len, struct error *err)
{
	size_t capacity = 65536;
	lzma_ret rc = LZMA_OK;

	while (rc == LZMA_OK) {
		if (stream->total_out >= UNPACKED_LEN_MAX)
			return error_set(err, -EFBIG,
					 "its .gnu_debugdata is larger than %u MiB",
					 UNPACKED_LEN_MAX >> 20);
		capacity *= 2;
		*data = xreallocarray(*data, capacity, 1);
		stream->next_out = (uint8_t *)*data + stream->total_out;
		stream->avail_out = capacity - stream->total_out;
		rc = lzma_code(stream, LZMA_FINISH);
		/* The input ended while there is still space for output: it is truncated. */
		if (rc == LZMA_OK && stream->avail_out > 0)
			rc = LZMA_BUF_ERROR;
	}
	if (rc != LZMA_STREAM_END)
		return error_set(err, -EBADMSG, "its .gnu_debugdata is damaged");
	*out_len = stream->total_out;
	return 0;
}

int unpack_xz(const void *packed, size_t packed_len, void **out_data, size_t *out_len,
	      struct error *err)
{
	CLEANUP(stream_done) lzma_stream stream = LZMA_STREAM_INIT;
	CLEANUP(freep) void *data = NULL;

	if (lzma_stream_decoder(&stream, DECODER_MEMORY_MAX, 0) != LZMA_OK)
		return error_set(err, -ENOTSUP, "liblzma cannot be initialised");
	stream.next_in = packed;
	stream.avail_in = packed_len;
	int rc = unpack_all(&stream, &data, out_len, err);
	if (rc < 0)
		return rc;
	*out_data = data;
	data = NULL; /* now the caller's */
	return 0;
}
