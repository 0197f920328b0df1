#include "report/json.h"

#include <json-c/json.h>
#include <string.h>

#include "base/text.h"

void json_add(struct json_object *object, const char *key, struct json_object *value)
{
	json_object_object_add(object, key, value);
}

void json_append(struct json_object *array, struct json_object *value)
{
	json_object_array_add(array, value);
}

struct json_object *json_new_object(void)
{
	return json_object_new_object();
}

struct json_object *json_new_array(void)
{
	return json_object_new_array();
}

/* A NULL object is JSON's null. */
struct json_object *json_new_string(const char *string)
{
	struct text text = { 0 };

	if (!string)
		return NULL;
	text_add_utf8(&text, string, strlen(string));
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
