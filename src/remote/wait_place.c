#include "remote/wait_place.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "remote/process.h"
#include "remote/python.h"
#include "remote/stack.h"
#include "walk/python_thread.h"

#define TYPE_NAME_SIZE 64

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool ends_with(const char *text, const char *end)
{
	const size_t len = strlen(text), suffix = strlen(end);

	return len >= suffix && strcmp(text + len - suffix, end) == 0;
}

/* gevent's pool of native threads has locks and queues of its own, like the standard ones. */
static bool is_of_threading(const struct stack_frame *frame)
{
	return ends_with(frame->file, "/threading.py") ||
	       ends_with(frame->file, "/gevent/_threading.py");
}

/*
 * Whether the function only waits on behalf of its caller: locks, queues, pools of the standard
 * library.
 */
static bool is_of_waiting(const struct stack_frame *frame)
{
	return frame->kind == STACK_PYTHON && frame->file &&
	       (is_of_threading(frame) || ends_with(frame->file, "/queue.py") ||
		strstr(frame->file, "/concurrent/futures/") ||
		strstr(frame->file, "/multiprocessing/"));
}

/*
 * Whether the function is where a thread begins, as in a pool: it waits on behalf of no caller.
 */
static bool is_begin(const struct stack_frame *frame)
{
	static const char *const names[] = { "run",     "_bootstrap", "_bootstrap_inner",
					     "_worker", "worker",     "_process_worker",
					     "_launch", "_feed" };
	const char *name = frame->plain_name ? frame->plain_name : frame->name;

	for (size_t i = 0; name && i < sizeof names / sizeof *names; i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

/*
 * Whether the file is like .../lib/python3.11/socketserver.py, outside site-packages and
 * dist-packages.
 */
static bool is_of_python(const struct stack_frame *frame)
{
	const char *at;

	if (frame->kind != STACK_PYTHON)
		return true;
	if (!frame->file || *frame->file == '<')
		return true;
	at = strstr(frame->file, "/lib/python");
	return at && !strstr(at, "-packages/");
}

/*
 * Whether the file is like .../lib/ruby/3.1.0/monitor.rb, no gem, or Ruby code built into Ruby.
 */
static bool is_of_ruby(const struct stack_frame *frame)
{
	const char *at;

	if (frame->kind != STACK_RUBY || !frame->file || *frame->file == '<')
		return true;
	at = strstr(frame->file, "/lib/ruby/");
	return at && !strstr(at, "/gems/") && !strstr(at, "_ruby/");
}

static void add_frame_place(const struct stack_frame *frame, struct text *out)
{
	const char *name = base_name(frame->file);

	if (frame->line == 0)
		return;
	text_add(out, " at ");
	text_add_printable(out, name, strlen(name));
	text_addf(out, ":%u", (unsigned)frame->line);
}

/*
 * Adds the nearest caller in the program's own code; if there is none, the waiting function's
 * caller.
 */
static void add_python_place(const struct remote_stack *stack, struct text *out)
{
	const struct stack_frame *caller = NULL;

	for (size_t i = 0; i < stack->count; i++) {
		const struct stack_frame *frame = &stack->frames[i];

		if (frame->kind != STACK_PYTHON || !frame->file)
			continue;
		if (is_of_waiting(frame) && is_begin(frame))
			break;
		if (is_of_waiting(frame))
			continue;
		if (!caller)
			caller = frame;
		if (!is_of_python(frame)) {
			caller = frame;
			break;
		}
	}
	if (caller)
		add_frame_place(caller, out);
}

/*
 * The outermost of the nested functions that wait on behalf of their caller; NULL: there is
 * none.
 */
static const struct stack_frame *waiting_function(const struct remote_stack *stack)
{
	const struct stack_frame *found = NULL;

	for (size_t i = 0; stack && i < stack->count; i++) {
		const struct stack_frame *frame = &stack->frames[i];

		if (frame->kind != STACK_PYTHON)
			continue;
		if (!is_of_waiting(frame) || is_begin(frame))
			break;
		found = frame;
	}
	return found;
}

/* Up to 3.10 a function's name lacks its class: adds the type of self. */
static void add_type_of_self(struct remote *remote, const struct stack_frame *frame,
			     struct text *out)
{
	const struct python_layout *layout = remote_python_layout(remote->python);
	struct mem *mem = &remote->mem;
	const uint64_t self = python_word_at(mem, frame->object + layout->offsets.frame_locals);
	char name[TYPE_NAME_SIZE] = { 0 };
	uint64_t type;

	if (frame->plain_name || self == 0)
		return;
	type = python_word_at(mem, self + layout->offsets.object_type);
	if (type == 0 ||
	    mem_read(mem, name, sizeof name - 1,
		     python_word_at(mem, type + layout->offsets.type_name)) < 0 ||
	    strlen(name) == sizeof name - 1 || *name == '\0')
		return;
	text_add_printable(out, name, strlen(name));
	text_add(out, ".");
}

/* "Executor.map.<locals>.result_iterator" without "<locals>" parts. */
static void add_name(const char *name, struct text *out)
{
	const char *locals = ".<locals>";
	const char *at;

	while ((at = strstr(name, locals)) != NULL) {
		text_add_printable(out, name, (size_t)(at - name));
		name = at + strlen(locals);
	}
	text_add_printable(out, name, strlen(name));
}

/* Adds "Queue.get"; for "Condition.__enter__" only "Condition". */
static void add_function(struct remote *remote, const struct stack_frame *frame,
			 struct text *out)
{
	const char *enter = ".__enter__";
	CLEANUP(text_done) struct text name = { 0 };

	add_type_of_self(remote, frame, &name);
	add_name(frame->name, &name);
	text_add_bytes(out, text_string(&name),
		       name.len - (ends_with(text_string(&name), enter) ? strlen(enter) : 0));
}

/* "_queue.SimpleQueue.get" without its module. */
static const char *without_module(const char *name)
{
	const char *last = strrchr(name, '.');
	const char *dot = name;

	for (const char *at = name; last && (at = strchr(at, '.')) != NULL && at < last; at++)
		dot = at + 1;
	return dot;
}

static const struct stack_frame *innermost(const struct remote_stack *stack)
{
	for (size_t i = 0; stack && i < stack->count; i++) {
		if (stack->frames[i].kind == STACK_PYTHON ||
		    stack->frames[i].kind == STACK_PYTHON_C)
			return &stack->frames[i];
	}
	return NULL;
}

bool wait_place_add_python(struct remote *remote, const struct remote_stack *stack,
			   const char *kind, struct text *out)
{
	const struct stack_frame *inner = innermost(stack);
	const struct stack_frame *function = waiting_function(stack);

	if (!inner || (!kind && !function && inner->kind != STACK_PYTHON_C))
		return false;
	if (kind)
		text_addf(out, "%s%s", kind, function ? " of " : "");
	if (function && function->name) {
		add_function(remote, function, out);
	} else if (!kind) {
		const char *name = inner->name ? without_module(inner->name) : "?";

		text_add_printable(out, name, strlen(name));
	}
	add_python_place(stack, out);
	return true;
}

void wait_place_add_ruby(const struct remote_stack *stack, const char *what, struct text *out)
{
	text_add(out, what);
	for (size_t i = 0; stack && i < stack->count; i++) {
		if (is_of_ruby(&stack->frames[i]))
			continue;
		add_frame_place(&stack->frames[i], out);
		return;
	}
}

bool wait_place_is_condition(const struct remote_stack *stack)
{
	for (size_t i = 0; stack && i < stack->count; i++) {
		const struct stack_frame *frame = &stack->frames[i];

		if (frame->kind != STACK_PYTHON)
			continue;
		if (!frame->file || !is_of_threading(frame) || !frame->name)
			return false;
		const char *name = frame->plain_name ? frame->plain_name : frame->name;

		/* gevent's, on behalf of wait(). */
		if (strcmp(name, "acquire_with_timeout") != 0)
			return strcmp(name, "wait") == 0;
	}
	return false;
}
