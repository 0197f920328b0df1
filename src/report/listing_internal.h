/* What the listing as a text and as JSON share. */
#pragma once

struct error;
struct lines_part;
struct profile;
struct source;

/* The part's source in *out_source, or a sentence why there is none. */
int listing_read_source(const struct profile *profile, const struct lines_part *part,
			struct source *out_source, struct error *err);
