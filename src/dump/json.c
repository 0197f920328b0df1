/* Writes a dump as JSON: docs/dump.schema.json. */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#include "abi/walk_status.h"
#include "base/memory.h"
#include "base/text.h"
#include "dump/command.h"
#include "dump/core_head.h"
#include "dump/rows.h"
#include "dump/write.h"
#include "remote/calls.h"
#include "remote/locals.h"
#include "remote/process.h"
#include "remote/python.h"
#include "remote/ruby.h"
#include "remote/snapshot.h"
#include "report/json.h"

#define ADDRESS_SIZE 24

static void add_flag(struct json_object *object, const char *key, bool value)
{
	json_add(object, key, json_object_new_boolean(value));
}

/* As text, because not every reader's numbers hold 64 bits. */
static void add_address(struct json_object *object, const char *key, uint64_t address)
{
	char text[ADDRESS_SIZE];

	snprintf(text, sizeof text, "0x%" PRIx64, address);
	json_add_string(object, key, text);
}

/* NULL: not requested, or the frame has no local variables. */
static struct json_object *locals_array(const struct remote *remote, const struct dump_row *row)
{
	if (!remote->has_locals || row->language != DUMP_PYTHON ||
	    row->frame->kind == STACK_PYTHON_C)
		return NULL;
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < row->frame->local_count; i++) {
		const struct local *local = &remote->locals[row->frame->local_first + i];
		struct json_object *object = json_object_new_object();

		json_add_string(object, "name", local->name);
		json_add_string(object, "value", local->value);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *frame_object(const struct remote *remote, const struct dump_row *row)
{
	static const char *const languages[] = { "native", "python", "ruby" };
	struct json_object *object = json_object_new_object();

	json_add_string(object, "language", languages[row->language]);
	json_add_string(object, "name", row->name);
	json_add_string(object, "file", row->file);
	json_add_figure(object, "line", row->line, 0);
	json_add_string(object, "module", row->module);
	if (row->language == DUMP_NATIVE)
		add_address(object, "address", row->address);
	else
		json_add(object, "address", NULL);
	add_flag(object, "is_inlined", row->is_inlined);
	add_flag(object, "is_guess", row->is_guess);
	add_flag(object, "is_doubtful", row->frame->is_doubtful);
	add_flag(object, "is_plumbing", row->is_plumbing);
	json_add(object, "locals", locals_array(remote, row));
	return object;
}

static const char *ending_word(uint8_t ending)
{
#define WORD(name, number, word, sentence) [number] = word,
	static const char *const words[] = { WALK_STATUS_MAP(WORD) };
#undef WORD

	return ending < sizeof words / sizeof *words ? words[ending] : NULL;
}

static void add_trust(const struct remote_thread *thread, struct json_object *object)
{
	static const char *const words[] = {
		[THREAD_CONSISTENT] = "consistent", [THREAD_COPIED] = "copied",
		[THREAD_AGREED] = "agreed",         [THREAD_DOUBTFUL] = "doubtful",
		[THREAD_UNREAD] = "unread",
	};

	json_add_string(object, "trust", words[thread->trust]);
	json_add_string(object, "why_doubtful", thread->why_doubtful);
	json_add_string(object, "why_unread", thread->why_unread);
	json_add_string(object, "ending",
			thread->why_unread ? NULL
			: thread->stack.needs_frame_pointer
				? "no_frame_pointer"
				: ending_word(thread->stack.ending));
}

static void add_call(const struct task_call *call, struct json_object *object)
{
	const struct call *known = call_find(call->number);
	struct json_object *its;

	if (call->is_running || call->number < 0) {
		json_add(object, "system_call", NULL);
		return;
	}
	its = json_object_new_object();
	json_add_u64(its, "number", (uint64_t)call->number);
	json_add_string(its, "name", known ? known->name : NULL);
	struct json_object *arguments = json_object_new_array();

	for (int i = 0; i < 6; i++) {
		char text[ADDRESS_SIZE];

		snprintf(text, sizeof text, "0x%" PRIx64, call->arguments[i]);
		json_object_array_add(arguments, json_new_string(text));
	}
	json_add(its, "arguments", arguments);
	json_add(object, "system_call", its);
}

/* Where the thread that holds the lock acquired it; null: unknown. */
static void add_held_at(const struct wait_place *place, struct json_object *object)
{
	struct json_object *its = NULL;

	if (place->function) {
		its = json_object_new_object();
		json_add_string(its, "name", place->function);
		json_add_string(its, "file", place->file);
		json_add_figure(its, "line", place->line, 0);
	}
	json_add(object, "held_at", its);
}

static void add_waits(const struct remote_thread *thread, struct json_object *object)
{
	static const char *const words[] = {
		[WAIT_ON_GIL] = "gil",
		[WAIT_ON_GVL] = "gvl",
		[WAIT_ON_MUTEX] = "mutex",
		[WAIT_ON_RWLOCK] = "rwlock",
		[WAIT_ON_THREAD] = "thread",
		[WAIT_ON_RUBY_MUTEX] = "ruby_mutex",
		[WAIT_ON_PYTHON_LOCK] = "python_lock",
		[WAIT_ON_PYTHON_RLOCK] = "python_rlock",
	};
	const struct wait *wait = &thread->wait;
	const bool is_lock = wait->on != WAIT_ON_NOTHING && wait->on != WAIT_ON_GIL &&
			     wait->on != WAIT_ON_GVL && wait->on != WAIT_ON_THREAD;

	json_add_string(object, "wait_state", wait_state_word((enum wait_state)wait->state));
	json_add_string(object, "waits_for", words[wait->on]);
	json_add_figure(object, "wait_owner", (uint64_t)thread->wait_owner, 0);
	if (is_lock)
		add_address(object, "lock", wait->object);
	else
		json_add(object, "lock", NULL);
	json_add_figure(object, "lock_owner", is_lock ? (uint64_t)thread->wait_owner : 0, 0);
	json_add_figure(object, "lock_readers", wait->readers, 0);
	add_held_at(&thread->held_at, object);
}

static struct json_object *thread_object(const struct remote_thread *thread,
					 const struct dump_thread *named)
{
	struct json_object *object = json_object_new_object();
	char state[2] = { thread->state, '\0' };
	CLEANUP(text_done) struct text signal = { 0 };

	json_add_u64(object, "tid", (uint64_t)thread->tid);
	json_add_u64(object, "inner_tid", (uint64_t)thread->inner_tid);
	json_add_string(object, "name", thread->long_name ? thread->long_name : thread->name);
	json_add_string(object, "state", state);
	json_add_string(object, "wait", thread->call_text);
	add_call(&thread->call, object);
	add_waits(thread, object);
	json_add_string(object, "kernel_function",
			*thread->kernel_function ? thread->kernel_function : NULL);
	if (thread->signal != 0)
		dump_add_signal_name(thread->signal, &signal);
	json_add_string(object, "signal", signal.len > 0 ? signal.data : NULL);
	add_flag(object, "holds_gil", thread->locks.holds_gil);
	add_flag(object, "waits_for_gil", thread->locks.waits_for_gil);
	add_flag(object, "waits_for_python_lock", named->waits_for_python_lock);
	add_flag(object, "holds_gvl", thread->locks.holds_gvl);
	add_trust(thread, object);
	return object;
}

static void write_thread(const struct dump *dump, size_t i, struct json_writer *writer)
{
	const struct dump_thread *named = &dump->threads[i];
	struct json_object *head = thread_object(&dump->snapshot->threads[i], named);

	json_writer_begin(writer, NULL, '{');
	struct json_object_iterator at = json_object_iter_begin(head);
	const struct json_object_iterator end = json_object_iter_end(head);

	for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at))
		json_writer_add(writer, json_object_iter_peek_name(&at),
				json_object_get(json_object_iter_peek_value(&at)));
	json_object_put(head);
	json_writer_begin(writer, "frames", '[');
	for (size_t j = 0; j < named->count; j++)
		json_writer_add(writer, NULL, frame_object(dump->remote, &named->rows[j]));
	json_writer_end(writer, ']');
	json_writer_end(writer, '}');
}

static struct json_object *process_object(const struct remote *remote)
{
	struct json_object *object = json_object_new_object();

	json_add_u64(object, "pid", (uint64_t)remote->process);
	json_add(object, "command", dump_command_array(remote));
	json_add_string(object, "python",
			remote->python ? remote_python_version(remote->python) : NULL);
	json_add_string(object, "python_why_not",
			remote->python ? NULL : remote->why_no_python);
	json_add_string(object, "ruby",
			remote->ruby ? remote_ruby_version(remote->ruby) : NULL);
	json_add_string(object, "ruby_why_not", remote->ruby ? NULL : remote->why_no_ruby);
	json_add(object, "gvl_is_verified",
		 remote->ruby
			 ? json_object_new_boolean(remote_ruby_gvl_is_verified(remote->ruby))
			 : NULL);
	json_add(object, "core", remote->core ? dump_core_object(remote->core) : NULL);
	return object;
}

/* Arrays of thread ids, each waiting for the next, the last for the first. */
static void write_deadlocks(const struct snapshot *snapshot, struct json_writer *writer)
{
	size_t *circle = xreallocarray(NULL, snapshot->count, sizeof *circle);

	json_writer_begin(writer, "deadlocks", '[');
	for (size_t i = 0; i < snapshot->count; i++) {
		const size_t len = snapshot_find_deadlock(snapshot, i, circle);
		struct json_object *array = json_object_new_array();

		for (size_t j = 0; j < len; j++)
			json_object_array_add(
				array, json_object_new_int(snapshot->threads[circle[j]].tid));
		if (len > 0)
			json_writer_add(writer, NULL, array);
		else
			json_object_put(array);
	}
	json_writer_end(writer, ']');
	free(circle);
}

void dump_write_json(const struct dump *dump, struct text *out)
{
	struct json_writer writer = { .out = out };

	json_writer_begin(&writer, NULL, '{');
	json_writer_add(&writer, "schema", json_object_new_int(1));
	json_writer_add(&writer, "process", process_object(dump->remote));
	json_writer_begin(&writer, "threads", '[');
	for (size_t i = 0; i < dump->snapshot->count; i++)
		write_thread(dump, i, &writer);
	json_writer_end(&writer, ']');
	write_deadlocks(dump->snapshot, &writer);
	json_writer_end(&writer, '}');
	text_add(out, "\n");
}
