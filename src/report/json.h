/*
 * json - helpers for JSON: json-c values with our escapes and null for unknown values, and a
 * writer that adds them to a text one by one.
 *
 * A report may have a million rows: each is written on a line of its own and freed at once.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct json_object;
struct text;

/* Takes value, whatever the result. */
void json_add(struct json_object *object, const char *key, struct json_object *value);
/* Bytes that are not UTF-8 are escaped; NULL gives null. */
void json_add_string(struct json_object *object, const char *key, const char *string);
void json_add_u64(struct json_object *object, const char *key, uint64_t value);
/* null if value equals unknown. */
void json_add_figure(struct json_object *object, const char *key, uint64_t value,
		     uint64_t unknown);
struct interval;
/* Adds KEY_low and KEY_high: null if unknown, as for times that are exact. */
void json_add_interval(struct json_object *object, const char *key,
		       const struct interval *interval, bool is_unknown);
struct json_object *json_new_string(const char *string);

struct json_writer {
	struct text *out;
	unsigned int level;
	bool has_member; /* the innermost open object or array is not empty */
};

/* These write all keys and brackets; key is NULL in an array and for the outermost value. */
void json_writer_begin(struct json_writer *writer, const char *key, char bracket);
void json_writer_end(struct json_writer *writer, char bracket);
/* Takes value, whatever the result: written on one line and freed. */
void json_writer_add(struct json_writer *writer, const char *key, struct json_object *value);
/* Likewise over several lines, for readability. */
void json_writer_add_block(struct json_writer *writer, const char *key,
			   struct json_object *value);
