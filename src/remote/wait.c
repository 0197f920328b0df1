#include "remote/wait.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/memory.h"
#include "base/text.h"
#include "remote/calls.h"
#include "remote/data_names.h"
#include "remote/postgres_wait.h"
#include "remote/process.h"
#include "remote/python.h"
#include "remote/python_lock.h"
#include "remote/ruby.h"
#include "remote/ruby_wait.h"
#include "remote/sqlite_wait.h"
#include "remote/stack.h"
#include "remote/wait_label.h"
#include "remote/wait_lock.h"
#include "remote/wait_place.h"

/* Of one process; after that only the system call's name is used. */
#define LABELS_MAX 8192U
/* Bytes before the end of a system call's instruction that are searched for its number. */
#define RESUMED_CODE 24U

static bool is_in(const struct task_call *call, int64_t number)
{
	return !call->is_running && call->number == number;
}

const char *wait_state_word(enum wait_state state)
{
#define WORD(name, number, word) [number] = word,
	static const char *const words[] = { WAIT_STATE_MAP(WORD) };
#undef WORD

	return words[state];
}

static void set_owner(struct wait *wait, enum wait_state state, enum wait_on on,
		      uint64_t object, pid_t owner)
{
	wait->state = (uint8_t)state;
	wait->on = (uint8_t)on;
	wait->object = object;
	wait->inner_owner = owner;
}

/*
 * A call that a stop ended is resumed by another one with the same arguments: the number of its own
 * is loaded before the instruction (x86-64: mov $number,%eax; …; syscall).
 */
static struct task_call resumed_call(struct remote *remote, const struct task_call *call)
{
	struct task_call own = *call;
#if defined(__x86_64__)
	static const int32_t resumed[] = { SYS_poll, SYS_futex, SYS_nanosleep,
					   SYS_clock_nanosleep };
	const uint8_t load = 0xb8;
	uint8_t code[RESUMED_CODE];
	int32_t number;

	if (!is_in(call, SYS_restart_syscall) ||
	    mem_read(&remote->mem, code, sizeof code, call->pc - sizeof code) < 0)
		return own;
	for (size_t i = sizeof code - sizeof number - 2; i-- > 0;) {
		memcpy(&number, &code[i + 1], sizeof number);
		for (size_t j = 0; j < sizeof resumed / sizeof *resumed; j++) {
			if (code[i] == load && number == resumed[j]) {
				own.number = number;
				return own;
			}
		}
	}
#else
	(void)remote;
#endif
	return own;
}

/* The state that the system call implies. */
static enum wait_state state_of_call(struct remote *remote, const struct task_call *call)
{
	const struct call *known = call_find(call->number);

	if (call->number < 0)
		return WAIT_STATE_IO; /* a page fault: reads a file, or swap */
	if (!known)
		return WAIT_STATE_SYSCALL;
	if (!wait_has_descriptors(remote, call))
		return WAIT_STATE_SLEEP;
	if (is_in(call, SYS_fcntl) &&
	    (call->arguments[1] == F_SETLKW || call->arguments[1] == F_OFD_SETLKW))
		return WAIT_STATE_LOCK;
	return (enum wait_state)known->state;
}

/* CPython's own futexes are those of the GIL; its other locks look like any semaphore. */
static bool read_gil(struct remote *remote, const struct task_call *call, struct wait *wait)
{
	const uint64_t address = call->arguments[0];

	if (!remote->python || !is_in(call, SYS_futex) ||
	    !remote_python_is_gil(remote, address))
		return false;
	set_owner(wait, WAIT_STATE_GIL, WAIT_ON_GIL, address,
		  remote_python_holder(remote, address));
	return true;
}

/* A thread of Ruby's own waits for a child on behalf of no method. */
static bool is_for_rubys_child(const struct remote *remote, const struct wait_thread *thread)
{
	return remote->ruby && is_in(&thread->call, SYS_futex) &&
	       remote_ruby_waits_for_child(remote, thread->stack);
}

static bool read_ruby(struct remote *remote, const struct wait_thread *thread,
		      struct wait *wait)
{
	const uint64_t context = thread->states.ruby;
	const struct task_call *call = &thread->call;
	const struct ruby_wait *known;

	if (!remote->ruby)
		return false;
	if (is_in(call, SYS_futex) &&
	    remote_ruby_waits_for_gvl(remote, context, call->arguments[0])) {
		set_owner(wait, WAIT_STATE_GVL, WAIT_ON_GVL, 0,
			  remote_ruby_gvl_holder(remote, context));
		return true;
	}
	if (is_in(call, SYS_futex) && remote_ruby_keeps(remote, thread->stack)) {
		wait->state = WAIT_STATE_WAIT;
		return true;
	}
	known = context != 0 ? ruby_wait_of(thread->stack, call->number) : NULL;
	if (!known && is_for_rubys_child(remote, thread)) {
		wait->state = WAIT_STATE_WAIT;
		return true;
	}
	if (!known)
		return false;
	wait->state = (uint8_t)known->state;
	if (known->flags & RUBY_WAIT_CONDITION)
		return true;
	const struct ruby_receiver receiver = remote_ruby_receiver(remote, context);

	if (receiver.is_thread)
		set_owner(wait, known->state, WAIT_ON_THREAD, receiver.object,
			  receiver.inner_owner);
	else if (receiver.object != 0)
		set_owner(wait, known->state, WAIT_ON_RUBY_MUTEX, receiver.object,
			  receiver.inner_owner);
	return true;
}

/* threading.Lock, RLock and Thread.join(). */
static bool read_python(struct remote *remote, const struct wait_thread *thread,
			struct wait *wait)
{
	struct python_lock lock;
	pid_t joined;

	if (!remote->python || !is_in(&thread->call, SYS_futex))
		return false;
	joined = python_joined(remote, &thread->call, thread->stack);
	if (joined != 0) {
		set_owner(wait, WAIT_STATE_WAIT, WAIT_ON_THREAD, thread->call.arguments[0],
			  joined);
		return true;
	}
	lock = python_lock_find(remote, &thread->call, thread->stack);
	if (lock.object == 0 || wait_place_is_condition(thread->stack))
		return false;
	set_owner(wait, WAIT_STATE_LOCK,
		  lock.is_recursive ? WAIT_ON_PYTHON_RLOCK : WAIT_ON_PYTHON_LOCK, lock.object,
		  lock.inner_owner);
	return true;
}

static void read_futex(struct remote *remote, const struct task_call *call, struct wait *wait)
{
	const struct wait_lock lock = wait_find_lock(remote, call);
	const pid_t joined = lock.address == 0 ? wait_find_joined(remote, call) : 0;

	wait->readers = lock.readers;
	if (lock.address != 0)
		set_owner(wait, WAIT_STATE_LOCK,
			  lock.is_rwlock ? WAIT_ON_RWLOCK : WAIT_ON_MUTEX, lock.address,
			  lock.inner_owner);
	else if (joined != 0)
		set_owner(wait, WAIT_STATE_WAIT, WAIT_ON_THREAD, call->arguments[0], joined);
}

static const char *keep_label(struct remote *remote, const struct text *text,
			      const struct task_call *call)
{
	const uint32_t id = intern_find(&remote->labels, text->data, text->len);
	const struct call *known = call_find(call->number);

	if (id != 0 || remote->labels.count < LABELS_MAX)
		return intern_get(&remote->labels,
				  intern_add(&remote->labels, text->data, text->len), NULL);
	return known ? known->name : NULL;
}

/* Adds the name of the mutex, if it is a variable of the program. */
static void add_native_lock(struct remote *remote, const struct wait *wait, struct text *out)
{
	const char *kind = wait->on == WAIT_ON_MUTEX ? "mutex" : "rwlock";
	const char *name = data_names_find(remote, wait->object);

	if (name)
		text_addf(out, "%s %s", kind, name);
	else
		text_addf(out, "%s 0x%llx", kind, (unsigned long long)wait->object);
}

static void add_data_name(struct remote *remote, uint64_t address, struct text *out)
{
	const char *name = data_names_find(remote, address);

	text_add(out, name ? name : "");
}

/* Whether the thread is in a system call by which Ruby implements its own waits. */
static bool rests_in_ruby(const struct remote *remote, const struct wait_thread *thread)
{
	return remote->ruby && thread->states.ruby != 0 && !thread->call.is_running &&
	       ruby_wait_is_in(thread->call.number);
}

/*
 * Describes the wait in terms of the thread's language; adds nothing where the system call says
 * all.
 */
static void describe_object(struct remote *remote, const struct wait_thread *thread,
			    const struct wait *wait, struct text *out)
{
	const struct ruby_wait *ruby =
		rests_in_ruby(remote, thread) ? ruby_wait_of(thread->stack, thread->call.number)
					      : NULL;

	if (wait->on == WAIT_ON_GIL)
		text_add(out, "GIL");
	else if (wait->on == WAIT_ON_GVL)
		text_add(out, "GVL");
	else if (wait->on == WAIT_ON_THREAD)
		text_add(out, "a thread's end");
	else if (is_in(&thread->call, SYS_futex) && remote_ruby_keeps(remote, thread->stack))
		text_add(out, "Ruby's next Thread.new");
	else if (ruby && ruby->state == WAIT_STATE_SLEEP)
		text_add(out, "sleep");
	else if (ruby)
		wait_place_add_ruby(thread->stack, ruby->what ? ruby->what : ruby->method, out);
	else if (is_for_rubys_child(remote, thread))
		text_add(out, "a child");
	else if (wait->on == WAIT_ON_MUTEX || wait->on == WAIT_ON_RWLOCK)
		add_native_lock(remote, wait, out);
	else if (wait->on == WAIT_ON_PYTHON_LOCK)
		wait_place_add_python(remote, thread->stack, "Lock", out);
	else if (wait->on == WAIT_ON_PYTHON_RLOCK)
		wait_place_add_python(remote, thread->stack, "RLock", out);
	else if (is_in(&thread->call, SYS_futex) &&
		 !(remote->python && thread->states.python != 0 &&
		   wait_place_add_python(remote, thread->stack, NULL, out)))
		add_data_name(remote, thread->call.arguments[0], out);
}

static bool is_stopped(const struct wait_thread *thread)
{
	return thread->state == 'T' || thread->state == 't';
}

static void read_label(struct remote *remote, const struct wait_thread *thread,
		       struct wait *wait)
{
	const struct task_call *call = &thread->call;
	const struct call *known = call_find(call->number);
	CLEANUP(text_done) struct text text = { 0 }, object = { 0 };
	struct task_call own = *call;
	enum wait_state state;

	/* Of a disk, where it does not wait for the receiver. */
	if (thread->state == 'D' && is_in(call, SYS_sendfile))
		own.arguments[0] = call->arguments[1];
	if (postgres_wait_add(remote, &object, &state)) {
		wait->state = (uint8_t)state;
	} else if (sqlite_waits_for_lock(remote, call, thread->stack)) {
		wait->state = WAIT_STATE_LOCK;
		text_add(&object, "Lock of an SQLite database");
	} else {
		describe_object(remote, thread, wait, &object);
	}
	if (object.len > 0 && known)
		text_addf(&text, "%s(%s)", known->name, text_string(&object));
	else if (thread->state == 'D' && known && known->on == CALL_ON_PATH)
		text_add(&text, known->name);  /* reads a directory: each file would be a row */
	else if (known || !is_stopped(thread)) /* where it ran it has some call's number */
		wait_describe(remote, &own, true, &text);
	if (text.len > 0)
		wait->label = keep_label(remote, &text, call);
}

/* The thread that is joined; a Ruby thread has a number once it has a native thread. */
static pid_t joined_now(struct remote *remote, const struct wait *wait,
			const struct walk_states *states)
{
	struct ruby_receiver receiver;

	if (!remote->ruby || states->ruby == 0)
		return 0;
	receiver = remote_ruby_receiver(remote, states->ruby);
	return receiver.is_thread && receiver.object == wait->object ? receiver.inner_owner : 0;
}

pid_t wait_owner_now(struct remote *remote, const struct wait *wait,
		     const struct walk_states *states)
{
	switch ((enum wait_on)wait->on) {
	case WAIT_ON_GIL:
		return remote_python_holder(remote, wait->object);
	case WAIT_ON_GVL:
		return remote_ruby_gvl_holder(remote, states->ruby);
	case WAIT_ON_MUTEX:
		return wait_mutex_owner(remote, wait->object);
	case WAIT_ON_RWLOCK:
		return wait_rwlock_writer(remote, wait->object);
	case WAIT_ON_RUBY_MUTEX:
		return remote_ruby_mutex_owner(remote, wait->object);
	case WAIT_ON_PYTHON_RLOCK:
		return python_rlock_owner(remote, wait->object);
	case WAIT_ON_THREAD:
		return wait->inner_owner != 0 ? wait->inner_owner
					      : joined_now(remote, wait, states);
	case WAIT_ON_PYTHON_LOCK:
	case WAIT_ON_NOTHING:
		break;
	}
	return 0;
}

void wait_read(struct remote *remote, const struct wait_thread *thread, struct wait *out_wait)
{
	struct wait wait = { .state = WAIT_STATE_RUNNING };
	struct wait_thread own = *thread;

	if (!thread->call.is_running) {
		own.call = resumed_call(remote, &thread->call);
		wait.state = (uint8_t)state_of_call(remote, &own.call);
		if (!read_gil(remote, &own.call, &wait) && !read_ruby(remote, &own, &wait) &&
		    !read_python(remote, &own, &wait) && is_in(&own.call, SYS_futex))
			read_futex(remote, &own.call, &wait);
		read_label(remote, &own, &wait);
	}
	/* A stopped thread is still in its call, so what that waits for remains valid. */
	if (is_stopped(thread))
		wait.state = WAIT_STATE_STOPPED;
	*out_wait = wait;
}
