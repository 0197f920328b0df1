/*
 * json - small steps towards JSON objects: json-c with our escapes and our "unknown".
 */
#pragma once
#include <stdint.h>

struct json_object;

/* Takes value, whatever the result. */
void json_add(struct json_object *object, const char *key, struct json_object *value);
/* Bytes that are no UTF-8 are escaped; NULL gives null. */
void json_add_string(struct json_object *object, const char *key, const char *string);
void json_add_u64(struct json_object *object, const char *key, uint64_t value);
/* null when it is what stands for unknown. */
void json_add_figure(struct json_object *object, const char *key, uint64_t value,
		     uint64_t unknown);
/* Takes value, whatever the result. */
void json_append(struct json_object *array, struct json_object *value);
struct json_object *json_new_object(void);
struct json_object *json_new_array(void);
struct json_object *json_new_string(const char *string);
