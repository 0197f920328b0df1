#include "report/json.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "profile/intervals.h"

void json_add(struct json_object *object, const char *key, struct json_object *value)
{
	json_object_object_add(object, key, value);
}

/* A NULL object is JSON's null. */
struct json_object *json_new_string(const char *string)
{
	struct text text = { 0 };

	if (!string)
		return NULL;
	text_add_shown(&text, string, strlen(string));
	struct json_object *value = json_object_new_string(text_string(&text));
	text_done(&text);
	return value;
}

void json_add_string(struct json_object *object, const char *key, const char *string)
{
	json_add(object, key, json_new_string(string));
}

void json_add_u64(struct json_object *object, const char *key, uint64_t value)
{
	json_add(object, key, json_object_new_uint64(value));
}

void json_add_figure(struct json_object *object, const char *key, uint64_t value,
		     uint64_t unknown)
{
	json_add(object, key, value == unknown ? NULL : json_object_new_uint64(value));
}

void json_add_interval(struct json_object *object, const char *key,
		       const struct interval *interval, bool is_unknown)
{
	char name[32];

	snprintf(name, sizeof name, "%s_low", key);
	json_add(object, name, is_unknown ? NULL : json_object_new_uint64(interval->low_ns));
	snprintf(name, sizeof name, "%s_high", key);
	json_add(object, name, is_unknown ? NULL : json_object_new_uint64(interval->high_ns));
	snprintf(name, sizeof name, "%s_phases", key);
	json_add(object, name,
		 is_unknown || interval->phases == 0 ? NULL
						     : json_object_new_int64(interval->phases));
}

static void begin_member(struct json_writer *writer, const char *key)
{
	if (writer->level > 0)
		text_addf(writer->out, "%s\n%*s", writer->has_member ? "," : "",
			  (int)(2 * writer->level), "");
	if (key)
		text_addf(writer->out, "\"%s\": ", key);
	writer->has_member = true;
}

void json_writer_begin(struct json_writer *writer, const char *key, char bracket)
{
	begin_member(writer, key);
	text_add_bytes(writer->out, &bracket, 1);
	writer->level++;
	writer->has_member = false;
}

void json_writer_end(struct json_writer *writer, char bracket)
{
	writer->level--;
	if (writer->has_member)
		text_addf(writer->out, "\n%*s", (int)(2 * writer->level), "");
	text_add_bytes(writer->out, &bracket, 1);
	writer->has_member = true;
}

void json_writer_add(struct json_writer *writer, const char *key, struct json_object *value)
{
	begin_member(writer, key);
	text_add(writer->out,
		 json_object_to_json_string_ext(value, JSON_C_TO_STRING_SPACED |
							       JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(value);
}

void json_writer_add_block(struct json_writer *writer, const char *key,
			   struct json_object *value)
{
	if (!value) {
		json_writer_add(writer, key, value);
		return;
	}
	json_writer_begin(writer, key, '{');
	struct json_object_iterator at = json_object_iter_begin(value);
	struct json_object_iterator end = json_object_iter_end(value);
	for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at))
		json_writer_add(writer, json_object_iter_peek_name(&at),
				json_object_get(json_object_iter_peek_value(&at)));
	json_writer_end(writer, '}');
	json_object_put(value);
}
