/* Writes a comparison as JSON; the contract is docs/diff.md. */
#include "report/compared.h"

#include <json-c/json.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/compare.h"
#include "profile/group.h"
#include "report/json.h"

static void add_ns(struct json_object *object, const char *key, double ns)
{
	json_add(object, key, json_object_new_int64((int64_t)ns));
}

static struct json_object *change_of(const struct change *change)
{
	struct json_object *object = json_object_new_object();

	add_ns(object, "before_ns", change->before_ns);
	add_ns(object, "after_ns", change->after_ns);
	add_ns(object, "change_ns", change->after_ns - change->before_ns);
	add_ns(object, "change_ns_low", change->low_ns);
	add_ns(object, "change_ns_high", change->high_ns);
	json_add(object, "p_value", json_object_new_double(change->p_value));
	json_add_string(object, "verdict", verdict_name(change->verdict));
	return object;
}

static struct json_object *row_of(const struct comparison *comparison,
				  const struct compared *row)
{
	struct json_object *object = change_of(&row->self);

	json_add_string(object, "name", row->name);
	json_add_string(object, "former_name", row->former_name);
	json_add_string(object, "file", row->file);
	json_add_figure(object, "line", row->line, 0);
	json_add_string(object, "module", row->module);
	json_add(object, "total", change_of(&row->total));
	json_add(object, "calls_before",
		 comparison->is_trace ? json_object_new_double(row->calls_before) : NULL);
	json_add(object, "calls_after",
		 comparison->is_trace ? json_object_new_double(row->calls_after) : NULL);
	return object;
}

static void add_paths(struct json_writer *writer, const char *key, const char *const *paths,
		      size_t count)
{
	json_writer_begin(writer, key, '[');
	for (size_t i = 0; i < count; i++)
		json_writer_add(writer, NULL, json_new_string(paths[i]));
	json_writer_end(writer, ']');
}

static void add_common(struct json_writer *writer, const struct common_factor *common)
{
	struct json_object *object = common->is_taken_out ? json_object_new_object() : NULL;

	if (object) {
		json_add(object, "change", json_object_new_double(common->change));
		json_add(object, "noise", json_object_new_double(common->noise));
	}
	json_writer_add(writer, "common_factor", object);
}

void compared_add_json(const struct comparison *comparison,
		       const struct compared_options *options, struct text *out)
{
	struct json_writer writer = { .out = out };
	CLEANUP(text_done) struct text rows = { 0 };

	text_addf(&rows, "%ss", group_by_name(options->by));
	json_writer_begin(&writer, NULL, '{');
	json_writer_add(&writer, "schema", json_object_new_int(1));
	add_paths(&writer, "before", options->paths[0], comparison->runs[0]);
	add_paths(&writer, "after", options->paths[1], comparison->runs[1]);
	json_writer_add(&writer, "mode",
			json_object_new_string(comparison->is_trace ? "trace" : "sample"));
	json_writer_add(&writer, "is_over_runs",
			json_object_new_boolean(comparison->is_over_runs));
	json_writer_add(&writer, "margin", json_object_new_double(comparison->margin));
	json_writer_add(&writer, "total", change_of(&comparison->whole));
	json_writer_add(&writer, "least_seen_ns",
			comparison->least_seen_ns > 0
				? json_object_new_int64((int64_t)comparison->least_seen_ns)
				: NULL);
	add_common(&writer, &comparison->common);
	json_writer_add(&writer, "cannot_tell",
			json_object_new_uint64(comparison->counts[VERDICT_CANNOT_TELL]));
	json_writer_begin(&writer, text_string(&rows), '[');
	for (size_t i = 0; i < comparison->count; i++)
		json_writer_add(&writer, NULL, row_of(comparison, &comparison->rows[i]));
	json_writer_end(&writer, ']');
	json_writer_end(&writer, '}');
	text_add(out, "\n");
}
