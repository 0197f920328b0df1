/* Shared by the text and JSON forms of a listing. */
#pragma once

struct error;
struct lines_part;
struct profile;
struct source;

/* Reads the part's source into *out_source; else a sentence why there is none. */
int listing_read_source(const struct profile *profile, const struct lines_part *part,
			struct source *out_source, struct error *err);
