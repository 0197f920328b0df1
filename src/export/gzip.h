/*
 * gzip - a sink that compresses its input and passes it to another sink.
 *
 * The header has no name and no time, so equal bytes give equal files. Inside export/ only.
 */
#pragma once
#include <zlib.h>

struct error;
struct sink;

struct gzip {
	const struct sink *sink;
	z_stream stream;
};

void gzip_init(struct gzip *gzip, const struct sink *sink);
struct sink gzip_sink(struct gzip *gzip);
/* Finishes the stream, if rc (of all writing so far) is 0. Returns the first failure. */
int gzip_done(struct gzip *gzip, int rc, struct error *err);
