/* listing - prints the source lines of a function with their time. */
#pragma once

struct error;
struct json_writer;
struct report_options;
struct selection;
struct style;
struct text;

/* Fails as find_functions() does; out is untouched then. */
int listing_add(const struct selection *selection, const struct report_options *options,
		const struct style *style, struct text *out, struct error *err);
/* Adds the member "listing", with every line that has time; fails likewise. */
int listing_add_json(struct json_writer *writer, const struct selection *selection,
		     const struct report_options *options, struct error *err);
