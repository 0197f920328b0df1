#include "profile/idle.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "profile/info.h"
#include "profile/profile.h"

enum {
	/*
	 * Minimum per cent in one state with one stack, of the time in which a thread was where it
	 * is known to have been: not runnable, which other programs decide, and not in waits of that
	 * state that were not read.
	 */
	AT_ONE_PLACE = 95,
	/* And of its life. */
	AT_LEAST = 50,
};

/*
 * Per cent: the first thread can be idle only if the busy threads' lives sum up to this part of
 * its own.
 */
enum { OTHERS_LEAST = 5 };

struct life {
	uint64_t ns, longest_ns;                /* the stack's alone */
	uint64_t unread_ns[THREAD_STATE_COUNT]; /* without a stack */
	uint64_t place_ns; /* of all stacks that are at one place with it */
	struct stack_id longest;
	enum thread_state state; /* of the longest wait */
};

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool is_one_of(const char *name, size_t len, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strlen(words[i]) == len && strncmp(name, words[i], len) == 0)
			return true;
	}
	return false;
}

/*
 * Waits for what another thread or process holds: "futex(Lock at app.py:12)", "epoll_wait(Lock
 * tuple)", and a lock of a file, "flock(/run/lock/x)" or "fcntl(/var/lib/dpkg/lock)".
 */
static bool is_for_owned(const char *call)
{
	static const char *const kinds[] = { "(Lock ",   "(RLock ",    "(mutex ",
					     "(rwlock ", "(Mutex ",    "(Monitor ",
					     "(LWLock ", "(BufferPin", "(lock of " };
	const char *open = strchr(call, '(');

	if (begins(call, "flock") || begins(call, "fcntl"))
		return true;
	for (size_t i = 0; open && i < sizeof kinds / sizeof *kinds; i++) {
		if (begins(open, kinds[i]))
			return true;
	}
	return false;
}

/*
 * Waits for requests: "epoll_wait", "poll(2 sockets)", "recvfrom(a client of port 80)"; not
 * "recvfrom(10.0.0.7:5432)".
 */
static bool is_for_work(const char *call)
{
	static const char *const waits[] = { "epoll_wait",  "epoll_pwait", "epoll_pwait2",
					     "poll",        "ppoll",       "select",
					     "pselect6",    "accept",      "accept4",
					     "io_getevents" };
	static const char *const reads[] = { "read", "readv", "recvfrom", "recvmsg" };
	const size_t len = strcspn(call, "(");
	const char *object = call[len] == '(' ? call + len + 1 : "";
	const bool is_wait = is_one_of(call, len, waits, sizeof waits / sizeof *waits);

	/* An epoll's peers may be connections that it keeps (show_waits_for_peers()). */
	if (begins(call, "accept") || begins(call, "epoll_") ||
	    begins(call, "io_uring_enter") || (is_wait && *object == '\0'))
		return true;
	if (!is_wait && !is_one_of(call, len, reads, sizeof reads / sizeof *reads))
		return false;
	return begins(object, "port ") || begins(object, "a client of ") ||
	       begins(object, "connections to ") || begins(object, "a pipe") ||
	       begins(object, "an ") || begins(object, "a timer") ||
	       begins(object, "a signalfd") || begins(object, "Client") ||
	       begins(object, "Activity") ||                /* of PostgreSQL */
	       object[strspn(object, "0123456789")] == ' '; /* several descriptors */
}

/* The function of the stack's innermost frame. */
static const struct function *leaf_of(const struct profile *profile, const struct stack *stack)
{
	return profile_get_function(profile,
				    profile_get_frame(profile, stack->frame)->function);
}

static bool may_be_idle(const struct profile *profile, const struct life *life)
{
	const struct stack *stack = profile_get_stack(profile, life->longest);
	const struct function *leaf = stack ? leaf_of(profile, stack) : NULL;

	const uint64_t unknown_ns =
		life->unread_ns[THREAD_STATE_RUNNABLE] + life->unread_ns[life->state];

	if (!leaf ||
	    (double)life->place_ns * 100 < (double)(life->ns - unknown_ns) * AT_ONE_PLACE ||
	    (double)life->place_ns * 100 < (double)life->ns * AT_LEAST)
		return false;
	switch (life->state) {
	case THREAD_STATE_SLEEP:
	case THREAD_STATE_WAIT:
		return true;
	case THREAD_STATE_LOCK:
		return !is_for_owned(leaf->name);
	case THREAD_STATE_IO:
		return is_for_work(leaf->name);
	default:
		return false;
	}
}

/* The innermost frame of an interpreted language, from that stack on outwards. */
static const struct stack *interpreted_from(const struct profile *profile, struct stack_id id)
{
	const struct stack *stack = profile_get_stack(profile, id);

	while (stack && !language_is_interpreted(leaf_of(profile, stack)->language))
		stack = profile_get_stack(profile, stack->parent);
	return stack;
}

/* "futex(condition in bioThread)", "futex(Queue.get at app.py:7)": the name has the place. */
static bool has_place(const char *call)
{
	return begins(call, "futex(") && (strstr(call, " in ") || strstr(call, " at "));
}

/* "futex(sleep)" and "ppoll(sleep)": Ruby waits for one thing by the call that suits it. */
static bool is_same_wait(const char *a, const char *b)
{
	const char *first = strchr(a, '('), *second = strchr(b, '(');

	return first && second ? strcmp(first, second) == 0 : strcmp(a, b) == 0;
}

/* Two loops of a server's function that wait in the same way are one place. */
static bool has_same_functions(const struct profile *profile, const struct stack *a,
			       const struct stack *b)
{
	while (a && b && leaf_of(profile, a) == leaf_of(profile, b)) {
		a = profile_get_stack(profile, a->parent);
		b = profile_get_stack(profile, b->parent);
	}
	return !a && !b;
}

/* An interpreter comes from one line of a program to the same call on several ways through its own code. */
static bool is_one_place(const struct profile *profile, struct stack_id first,
			 struct stack_id second)
{
	const struct stack *a = profile_get_stack(profile, first);
	const struct stack *b = profile_get_stack(profile, second);
	bool is_interpreted = false;

	if (first.n == second.n || !a || !b ||
	    !is_same_wait(leaf_of(profile, a)->name, leaf_of(profile, b)->name))
		return first.n == second.n;
	if (has_place(leaf_of(profile, a)->name))
		return true;
	if (!interpreted_from(profile, first) && !interpreted_from(profile, second))
		return has_same_functions(profile, a, b);
	a = interpreted_from(profile, first);
	b = interpreted_from(profile, second);
	while (a && b && a->frame.n == b->frame.n) {
		is_interpreted = true;
		a = interpreted_from(profile, a->parent);
		b = interpreted_from(profile, b->parent);
	}
	return is_interpreted && !a && !b;
}

static void add_places(const struct profile *profile, struct life *lives)
{
	for (size_t i = 0; i < profile_weight_count(profile); i++) {
		const struct weight *weight = profile_get_weight(profile, i);
		struct life *life = &lives[weight->thread.n];

		if (life->longest.n != 0 && weight->state == life->state &&
		    is_one_place(profile, weight->stack, life->longest))
			life->place_ns += weight->ns;
	}
}

static bool is_first(const struct profile *profile, uint32_t id)
{
	const struct thread *thread = profile_get_thread(profile, (struct thread_id){ id });
	const struct process *process = profile_get_process(profile, thread->process);

	return process && process->parent.n == 0 && process->pid == thread->tid;
}

/* Waits in an event loop that has a connection of the program's own, "epoll_wait(10.0.0.7:80)". */
static bool may_wait_for_peer(const struct profile *profile, const struct life *life)
{
	const struct stack *stack = profile_get_stack(profile, life->longest);
	const char *call = stack ? leaf_of(profile, stack)->name : "";

	return begins(call, "epoll_") && strchr(call, '(') != NULL;
}

/* Whether the first thread of a program lived so long that all busy threads are next to nothing. */
static bool is_most_of_it(const struct profile *profile, const struct life *lives,
			  uint64_t busy_ns)
{
	for (uint32_t i = 1; i <= profile_thread_count(profile); i++) {
		if (is_first(profile, i) &&
		    (double)busy_ns * 100 < (double)lives[i].ns * OTHERS_LEAST)
			return true;
	}
	return false;
}

/*
 * A proxy's workers wait for its upstream server by the same call as for work: where nothing else is
 * busy, that is what the program does.  Returns their lives.
 */
static uint64_t show_waits_for_peers(const struct profile *profile, struct life *lives)
{
	uint64_t busy_ns = 0;

	for (uint32_t i = 1; i <= profile_thread_count(profile); i++) {
		if (!may_wait_for_peer(profile, &lives[i]))
			continue;
		lives[i].longest.n = 0;
		busy_ns += lives[i].ns;
	}
	return busy_ns;
}

/* By thread id; `longest` is none for threads that are not idle. The caller frees it. */
static struct life *read_lives(const struct profile *profile)
{
	const size_t threads = profile_thread_count(profile);
	struct life *lives = xzalloc((threads + 1) * sizeof *lives);
	uint64_t busy_ns = 0;

	for (size_t i = 0;
	     profile_get_info(profile)->is_wall && i < profile_weight_count(profile); i++) {
		const struct weight *weight = profile_get_weight(profile, i);
		struct life *life = &lives[weight->thread.n];

		life->ns += weight->ns;
		if (weight->samples == 0)
			life->unread_ns[weight->state] += weight->ns;
		if (weight->state > THREAD_STATE_RUNNABLE && weight->samples > 0 &&
		    weight->ns > life->longest_ns) {
			life->longest_ns = weight->ns;
			life->longest = weight->stack;
			life->state = weight->state;
		}
	}
	add_places(profile, lives);
	for (uint32_t i = 1; i <= threads; i++) {
		if (!may_be_idle(profile, &lives[i])) {
			lives[i].longest.n = 0;
			busy_ns += lives[i].ns;
		}
	}
	if (is_most_of_it(profile, lives, busy_ns))
		busy_ns += show_waits_for_peers(profile, lives);
	for (uint32_t i = 1; i <= threads; i++) {
		if (is_first(profile, i) &&
		    (double)busy_ns * 100 < (double)lives[i].ns * OTHERS_LEAST)
			lives[i].longest.n = 0;
	}
	return lives;
}

struct idle idle_find(const struct profile *profile)
{
	CLEANUP(freep) struct life *lives = read_lives(profile);
	struct idle idle = { 0 };

	for (size_t i = 1; i <= profile_thread_count(profile); i++) {
		if (lives[i].longest.n == 0)
			continue;
		idle.threads++;
		idle.ns += lives[i].ns;
	}
	return idle;
}

struct stack_id *idle_places(const struct profile *profile)
{
	const size_t threads = profile_thread_count(profile);
	CLEANUP(freep) struct life *lives = read_lives(profile);
	struct stack_id *places = xzalloc((threads + 1) * sizeof *places);

	for (size_t i = 1; i <= threads; i++)
		places[i] = lives[i].longest;
	return places;
}
