#include "dump/locks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "remote/snapshot.h"
#include "report/style.h"

struct lock_words {
	const char *any, *this;
	const char *how; /* in which way the lock is held */
};

static const struct lock_words *words_of(const struct wait *wait)
{
	static const struct lock_words words[] = {
		[WAIT_ON_NOTHING] = { "a lock", "the lock", "holds" },
		[WAIT_ON_GIL] = { "the GIL", "the GIL", "holds" },
		[WAIT_ON_GVL] = { "the GVL", "the GVL", "holds" },
		[WAIT_ON_MUTEX] = { "a mutex", "the mutex", "holds" },
		[WAIT_ON_RWLOCK] = { "a read-write lock", "the read-write lock",
				     "holds for writing" },
		[WAIT_ON_RUBY_MUTEX] = { "a Mutex", "the Mutex", "holds" },
		[WAIT_ON_PYTHON_LOCK] = { "a Lock", "the Lock", "holds" },
		[WAIT_ON_PYTHON_RLOCK] = { "an RLock", "the RLock", "holds" },
		[WAIT_ON_THREAD] = { "a thread", "the thread", "is" },
	};

	return &words[wait->on];
}

static void add_held_at(const struct wait_place *place, struct text *out)
{
	if (place->function == NULL)
		return;
	text_add(out, place->is_acquired ? ", by acquire()" : ", in `with`");
	if (place->line > 0 && place->file) {
		text_add(out, " at ");
		text_add_printable(out, place->file, strlen(place->file));
		text_addf(out, ":%u", (unsigned)place->line);
	} else {
		text_add(out, " in ");
		text_add_printable(out, place->function, strlen(place->function));
	}
}

static void add_owner(const struct remote_thread *thread, struct text *out)
{
	if (thread->wait_owner == thread->tid)
		text_add(out, "it holds itself");
	else
		text_addf(out, "thread %d %s", (int)thread->wait_owner,
			  words_of(&thread->wait)->how);
}

void dump_add_waited_lock(const struct remote_thread *thread, bool is_python, struct text *out)
{
	const struct wait *wait = &thread->wait;
	const struct lock_words *words = words_of(wait);

	if (wait->on == WAIT_ON_THREAD && thread->wait_owner != 0) {
		text_addf(out, " for the end of thread %d", (int)thread->wait_owner);
	} else if (wait->on != WAIT_ON_NOTHING && thread->wait_owner != 0) {
		text_addf(out, " for %s that ", words->any);
		add_owner(thread, out);
		add_held_at(&thread->held_at, out);
	} else if (wait->on == WAIT_ON_RWLOCK && wait->readers > 0) {
		text_addf(out, " for %s that %u thread%s for reading", words->any,
			  (unsigned)wait->readers, wait->readers == 1 ? " holds" : "s hold");
	} else if (wait->on == WAIT_ON_GIL || wait->on == WAIT_ON_GVL) {
		text_addf(out, ", waits for %s", words->any);
	} else if (wait->on == WAIT_ON_PYTHON_LOCK) {
		text_addf(out, " for %s, whose owner CPython does not record", words->any);
	} else if (is_python) {
		text_add(out, " for a lock of Python's, whose owner is not known");
	}
}

/* Adds what one thread of a circle waits for, and which thread holds it. */
static void add_edge(const struct remote_thread *thread, struct text *line)
{
	const struct lock_words *words = words_of(&thread->wait);

	text_addf(line, "thread %d waits for ", (int)thread->tid);
	if (thread->wait.on == WAIT_ON_THREAD) {
		text_addf(line, "the end of thread %d", (int)thread->wait_owner);
		return;
	}
	text_addf(line, "%s at 0x%" PRIx64 ", which ", words->this, thread->wait.object);
	add_owner(thread, line);
	add_held_at(&thread->held_at, line);
}

static void add_deadlock(const struct snapshot *snapshot, const size_t *circle, size_t len,
			 const struct style *style, struct text *out)
{
	const char *head = "deadlock: ";
	const int indent = (int)strlen(head);

	for (size_t i = 0; i < len; i++) {
		CLEANUP(text_done) struct text edge = { 0 };
		CLEANUP(text_done) struct text line = { 0 };

		add_edge(&snapshot->threads[circle[i]], &edge);
		/* Without a width, one line per thread, for scripts. */
		if (style->width == 0)
			text_add(&line, text_string(&edge));
		else
			style_add_wrapped(&line, style, (unsigned int)indent,
					  text_string(&edge));
		text_addf(out, "\n%*s", indent, i == 0 ? head : "");
		style_add(out, style, TINT_HOT, text_string(&line));
	}
	text_add(out, "\n");
}

void dump_add_deadlocks(const struct snapshot *snapshot, const struct style *style,
			struct text *out)
{
	size_t *circle = xreallocarray(NULL, snapshot->count, sizeof *circle);

	for (size_t i = 0; i < snapshot->count; i++) {
		const size_t len = snapshot_find_deadlock(snapshot, i, circle);

		if (len > 0)
			add_deadlock(snapshot, circle, len, style, out);
	}
	free(circle);
}
