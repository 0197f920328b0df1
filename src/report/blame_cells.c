#include "report/blame_cells.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/function_origin.h"
#include "profile/short_name.h"
#include "profile/thread_kinds.h"
#include "report/blame_pairs.h"
#include "report/grid.h"
#include "report/style.h"
#include "report/wait_text.h"

enum { NAME_COLUMNS = 36 };

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

static const char *leaf_of(const struct profile *profile, struct stack_id id)
{
	const struct stack *stack = profile_get_stack(profile, id);

	return stack ? profile_get_function(profile,
					    profile_get_frame(profile, stack->frame)->function)
			       ->name
		     : "";
}

void blame_add_object(struct grid *grid, const struct profile *profile, enum thread_state state,
		      struct stack_id stack)
{
	const char *leaf = leaf_of(profile, stack);
	CLEANUP(text_done) struct text text = { 0 };

	if (state == THREAD_STATE_GIL)
		text_add(&text, "the GIL");
	else if (state == THREAD_STATE_GVL)
		text_add(&text, "the GVL");
	else
		wait_text_add(&text, leaf);
	grid_add_name(grid, TINT_NONE, text_string(&text));
}

void blame_add_thread(struct grid *grid, const struct profile *profile,
		      const struct thread_kinds *kinds, struct thread_id id, size_t count)
{
	const struct thread *thread = profile_get_thread(profile, id);
	CLEANUP(text_done) struct text cell = { 0 };

	if (thread && kinds && count > 1)
		text_addf(&cell, "%s ×%zu",
			  thread_kinds_name(kinds, thread_kinds_of(kinds, id)), count);
	else if (thread)
		text_addf(&cell, "%s (%d)", thread->name ? thread->name : "thread",
			  thread->tid);
	grid_add_name(grid, TINT_NONE, text_string(&cell));
}

void blame_add_frame(struct text *out, const struct profile *profile, struct frame_id id)
{
	const struct frame *frame = profile_get_frame(profile, id);
	const struct function *function =
		frame ? profile_get_function(profile, frame->function) : NULL;
	const char *file;

	if (!function) {
		text_add(out, "not known");
		return;
	}
	file = base_name(frame->file ? frame->file : function->file);
	short_name_add(out, function->name, NAME_COLUMNS);
	if (file && frame->line > 0)
		text_addf(out, " %s:%u", file, frame->line);
}

void blame_add_chain(struct text *out, const struct profile *profile, struct stack_id id,
		     size_t width)
{
	CLEANUP(text_done) struct text chain = { 0 }, printable = { 0 };
	const struct stack *stack = profile_get_stack(profile, id);

	if (!stack)
		text_add(&chain, "not known");
	for (; stack; stack = profile_get_stack(profile, stack->parent)) {
		CLEANUP(text_done) struct text longer = { 0 };
		bool has_room;

		if (blame_is_c_library(profile, stack->frame))
			continue;
		blame_add_frame(&longer, profile, stack->frame);
		text_addf(&longer, "%s%s", chain.len > 0 ? " → " : "", text_string(&chain));
		has_room = chain.len == 0 || text_columns(text_string(&longer)) + 4 <= width;
		if (!has_room) {
			text_clear(&longer);
			text_addf(&longer, "… → %s", text_string(&chain));
		}
		text_clear(&chain);
		text_add(&chain, text_string(&longer));
		if (!has_room)
			break;
	}
	text_add_printable(&printable, text_string(&chain), chain.len);
	/* The innermost frame alone may be wider. */
	style_add_cut(out, text_string(&printable), width);
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/*
 * Whether a mutex records that it is held, but not by which thread: musl's, unless it is recursive,
 * Rust's and GLib's.
 */
static bool has_no_owner(const struct profile *profile, struct stack_id id)
{
	const struct stack *stack = profile_get_stack(profile, id);

	while (stack) {
		const struct frame *frame = profile_get_frame(profile, stack->frame);

		const struct function *function =
			profile_get_function(profile, frame->function);
		const struct module *module = profile_get_module(profile, function->module);
		const char *name = function->name;

		if (begins(name, "__timedwait") || strstr(name, "mutex::futex::Mutex") ||
		    strstr(name, "rwlock::futex::RwLock") || function_is_of_parking_lot(name) ||
		    (module && module->path && strstr(module->path, "/libglib")))
			return true;
		stack = profile_get_stack(profile, stack->parent);
	}
	return false;
}

const char *blame_why_unowned(const struct profile *profile, const struct blame_pair *pair)
{
	const enum thread_state state = pair->heaviest.state;
	const char *leaf = leaf_of(profile, pair->heaviest.waiter_stack);

	if (*leaf == '[')
		return "too short to be read";
	if (state == THREAD_STATE_GIL || state == THREAD_STATE_GVL)
		return "passed on meanwhile";
	if (begins(leaf, "futex(Lock "))
		return "no frame shows its holder";
	if (begins(leaf, "futex(lock of ") || begins(leaf, "futex(OpenMP lock"))
		return "it keeps no owner"; /* the C library's, GCC's */
	if ((begins(leaf, "futex(mutex") || begins(leaf, "futex(rwlock")) &&
	    has_no_owner(profile, pair->heaviest.waiter_stack))
		return "it keeps no owner";
	if (begins(leaf, "futex(rwlock"))
		return "readers hold it, or passed on";
	if (begins(leaf, "futex(RLock ") || begins(leaf, "futex(mutex") ||
	    begins(leaf, "futex(Mutex ") || begins(leaf, "futex(Monitor "))
		return "passed on meanwhile";
	if (begins(leaf, "futex(SemLock"))
		return "a semaphore: no holder is kept";
	if (begins(leaf, "flock") || begins(leaf, "fcntl"))
		return "of a file: no owner is read";
	if (state == THREAD_STATE_WAIT)
		return "no thread's doing";
	return begins(leaf, "epoll_wait(") || begins(leaf, "futex(LWLock ") ||
			       begins(leaf, "clock_nanosleep(Lock ")
		       ? "no owner can be read" /* PostgreSQL's, SQLite's */
		       : "no thread owns it";
}
