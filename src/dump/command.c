#include "dump/command.h"

#include <json-c/json.h>
#include <string.h>

#include "base/text.h"
#include "remote/process.h"
#include "remote/task.h"
#include "report/json.h"

#define COMMAND_SIZE 4096

/* The bytes of /proc/PID/cmdline: strings, each with its NUL.  Its length. */
static size_t read_command(const struct remote *remote, char bytes[COMMAND_SIZE])
{
	/* task_read_text() puts a NUL behind; what is before it are the others. */
	memset(bytes, 0, COMMAND_SIZE);
	if (remote->fd < 0 ||
	    task_read_text(remote->pid, remote->pid, "cmdline", bytes, COMMAND_SIZE) < 0)
		return 0;
	size_t len = COMMAND_SIZE - 1;

	while (len > 0 && bytes[len - 1] == '\0')
		len--;
	return len;
}

void dump_add_command(const struct remote *remote, struct text *out)
{
	char bytes[COMMAND_SIZE];
	const size_t len = read_command(remote, bytes);

	for (size_t at = 0; at < len; at += strlen(bytes + at) + 1) {
		text_add(out, at > 0 ? " " : "");
		text_add_printable(out, bytes + at, strlen(bytes + at));
	}
}

struct json_object *dump_command_array(const struct remote *remote)
{
	struct json_object *array = json_object_new_array();
	char bytes[COMMAND_SIZE];
	const size_t len = read_command(remote, bytes);

	for (size_t at = 0; at < len; at += strlen(bytes + at) + 1)
		json_object_array_add(array, json_new_string(bytes + at));
	return array;
}
