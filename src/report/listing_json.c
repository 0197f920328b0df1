/* Writes the lines of functions as JSON. */
#include "report/listing.h"

#include <json-c/json.h>

#include "base/error.h"
#include "base/memory.h"
#include "profile/find.h"
#include "profile/lines.h"
#include "profile/profile.h"
#include "report/json.h"
#include "report/listing_internal.h"
#include "report/report_options.h"
#include "report/selection.h"
#include "report/source.h"

static struct json_object *line_of(const struct line_cost *row, const struct source *source,
				   bool is_trace)
{
	struct json_object *object = json_object_new_object();

	json_add_figure(object, "line", row->line, 0);
	json_add_string(object, "source", source ? source_line(source, row->line) : NULL);
	json_add_u64(object, "self_ns", row->cost.self_ns);
	json_add_u64(object, "total_ns", row->cost.total_ns);
	json_add_interval(object, "self_ns", &row->cost.intervals.self, is_trace);
	json_add_interval(object, "total_ns", &row->cost.intervals.total, is_trace);
	json_add_u64(object, "self_samples", row->cost.self_samples);
	json_add_u64(object, "total_samples", row->cost.total_samples);
	return object;
}

static void add_part_json(struct json_writer *writer, const struct profile *profile,
			  const struct lines_part *part)
{
	struct source source = { 0 };
	struct error why;
	int rc = listing_read_source(profile, part, &source, &why);

	json_writer_begin(writer, NULL, '{');
	json_writer_add(writer, "function", json_object_new_uint64(part->function.n));
	json_writer_add(writer, "file", json_new_string(part->file));
	json_writer_add(writer, "why_no_source", json_new_string(rc < 0 ? why.text : NULL));
	json_writer_begin(writer, "lines", '[');
	for (size_t i = 0; i < part->count; i++)
		json_writer_add(writer, NULL,
				line_of(&part->rows[i], rc < 0 ? NULL : &source,
					profile_is_trace(profile)));
	json_writer_end(writer, ']');
	json_writer_end(writer, '}');
	source_done(&source);
}

int listing_add_json(struct json_writer *writer, const struct selection *selection,
		     const struct report_options *options, struct error *err)
{
	CLEANUP(lines_done) struct lines lines = { 0 };
	CLEANUP(found_done) struct found found = { 0 };

	if (!options->lines)
		return 0;
	int rc = find_functions(selection->profile, options->lines, &found, err);

	if (rc < 0)
		return rc;
	lines_make(selection->profile, selection->filter, found.is_meant, &lines);
	json_writer_begin(writer, "listing", '{');
	json_writer_add(writer, "name", json_new_string(found.name));
	json_writer_begin(writer, "parts", '[');
	for (size_t i = 0; i < lines.part_count; i++)
		add_part_json(writer, selection->profile, &lines.parts[i]);
	json_writer_end(writer, ']');
	json_writer_end(writer, '}');
	return 0;
}
