#include "dump/command.h"

#include <json-c/json.h>
#include <string.h>

#include "base/text.h"
#include "remote/core_memory.h"
#include "remote/process.h"
#include "remote/task.h"
#include "report/json.h"

#define COMMAND_SIZE 4096

/* A core has only the first 80 bytes, with blanks for NULs. */
static size_t read_core_command(const struct core *core, char bytes[COMMAND_SIZE])
{
	size_t len = strlen(core->file.command);

	memset(bytes, 0, COMMAND_SIZE);
	while (len > 0 && core->file.command[len - 1] == ' ')
		len--;
	for (size_t i = 0; i < len; i++)
		bytes[i] = core->file.command[i] == ' ' ? '\0' : core->file.command[i];
	return len;
}

/* Reads the bytes of /proc/PID/cmdline: strings, each with its NUL. Returns their length. */
static size_t read_command(const struct remote *remote, char bytes[COMMAND_SIZE])
{
	if (remote->core)
		return read_core_command(remote->core, bytes);
	/* task_read_text() ends the text with one more NUL, which is not counted. */
	memset(bytes, 0, COMMAND_SIZE);
	if (task_read_text(remote->pid, remote->pid, "cmdline", bytes, COMMAND_SIZE) < 0)
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
