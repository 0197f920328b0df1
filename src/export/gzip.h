/*
 * gzip - a sink that compresses what it is given and hands it to another sink.
 *
 * The header carries no name and no time, so the same bytes give the same file.
 * Inside export/ only.
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
/* Writes the end, if rc (of all that was written so far) is 0.  Returns the first failure. */
int gzip_done(struct gzip *gzip, int rc, struct error *err);
