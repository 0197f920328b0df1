#include "remote/wait.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/memory.h"
#include "base/text.h"
#include "remote/calls.h"
#include "remote/process.h"
#include "remote/python.h"
#include "remote/python_lock.h"
#include "remote/ruby.h"
#include "remote/stack.h"
#include "remote/wait_label.h"
#include "remote/wait_lock.h"

/* Of one process; those that come later have the system call's name only. */
#define LABELS_MAX 8192U

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

/* What a system call says of itself. */
static enum wait_state state_of_call(struct remote *remote, const struct task_call *call)
{
	const struct call *known = call_find(call->number);

	if (call->number < 0)
		return WAIT_STATE_IO; /* a page that is read from a file, or from swap */
	if (!known)
		return WAIT_STATE_SYSCALL;
	if (!wait_has_descriptors(remote, call))
		return WAIT_STATE_SLEEP;
	if (is_in(call, SYS_fcntl) &&
	    (call->arguments[1] == F_SETLKW || call->arguments[1] == F_OFD_SETLKW))
		return WAIT_STATE_LOCK;
	return (enum wait_state)known->state;
}

/* CPython's own futexes are the GIL's; its other locks look like any semaphore. */
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

/* Methods in C; "Thread::", which the names of Mutex and Queue begin with from 3.1 on, is left out. */
static const struct ruby_wait {
	const char *method;
	enum wait_state state;
} ruby_waits[] = {
	{ "Kernel#sleep", WAIT_STATE_SLEEP },
	{ "Kernel.sleep", WAIT_STATE_SLEEP },
	{ "Thread#join", WAIT_STATE_WAIT },
	{ "Thread#value", WAIT_STATE_WAIT },
	{ "Thread.stop", WAIT_STATE_WAIT },
	{ "Process.wait", WAIT_STATE_WAIT },
	{ "Process.wait2", WAIT_STATE_WAIT },
	{ "Process.waitall", WAIT_STATE_WAIT },
	{ "Process::Status.wait", WAIT_STATE_WAIT },
	{ "Kernel#system", WAIT_STATE_WAIT },
	{ "Mutex#sleep", WAIT_STATE_LOCK }, /* what a ConditionVariable waits in */
	{ "Mutex#lock", WAIT_STATE_LOCK },
	{ "Mutex#synchronize", WAIT_STATE_LOCK },
	{ "ConditionVariable#wait", WAIT_STATE_LOCK },
	{ "Monitor#enter", WAIT_STATE_LOCK },
	{ "Monitor#mon_enter", WAIT_STATE_LOCK },
	{ "Monitor#synchronize", WAIT_STATE_LOCK },
	{ "Monitor#mon_synchronize", WAIT_STATE_LOCK },
	{ "Monitor#wait_for_cond", WAIT_STATE_LOCK },
	{ "Queue#pop", WAIT_STATE_LOCK },
	{ "Queue#shift", WAIT_STATE_LOCK },
	{ "Queue#deq", WAIT_STATE_LOCK },
	{ "SizedQueue#pop", WAIT_STATE_LOCK },
	{ "SizedQueue#shift", WAIT_STATE_LOCK },
	{ "SizedQueue#deq", WAIT_STATE_LOCK },
	{ "SizedQueue#push", WAIT_STATE_LOCK },
	{ "SizedQueue#<<", WAIT_STATE_LOCK },
};

/* In C, or in what Ruby itself has in Ruby, as Queue#pop from 3.2 on. */
static bool is_rubys_own(const struct stack_frame *frame)
{
	const char *internal = "<internal:";

	return frame->kind == STACK_RUBY_C ||
	       (frame->kind == STACK_RUBY && frame->file &&
		strncmp(frame->file, internal, strlen(internal)) == 0);
}

/* The method of Ruby's own that a thread is in, if the innermost of its language is one; or NULL. */
static const struct ruby_wait *ruby_wait_of(const struct remote_stack *stack)
{
	const size_t prefix = strlen("Thread::");
	const char *name;
	size_t i = 0;

	while (stack && i < stack->count && stack->frames[i].kind == STACK_NATIVE)
		i++;
	if (!stack || i == stack->count || !is_rubys_own(&stack->frames[i]) ||
	    !stack->frames[i].name)
		return NULL;
	name = stack->frames[i].name;
	name += strncmp(name, "Thread::", prefix) == 0 ? prefix : 0;
	for (size_t j = 0; j < sizeof ruby_waits / sizeof *ruby_waits; j++) {
		if (strcmp(name, ruby_waits[j].method) == 0)
			return &ruby_waits[j];
	}
	return NULL;
}

/*
 * Ruby's threads wait for everything of their own in a futex, or, one of them, in a poll of the
 * descriptor that signals are reported by.
 */
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
	known = context != 0 ? ruby_wait_of(thread->stack) : NULL;
	if (!known)
		return false;
	wait->state = (uint8_t)known->state;
	/* A condition's waiter has given its Mutex away, and wakes by a signal. */
	if (strcmp(known->method, "Mutex#sleep") == 0 ||
	    strcmp(known->method, "ConditionVariable#wait") == 0 ||
	    strcmp(known->method, "Monitor#wait_for_cond") == 0)
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
	if (lock.object == 0)
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

static bool is_of_threading(const char *file)
{
	const char *slash = strrchr(file, '/');

	return strcmp(slash ? slash + 1 : file, "threading.py") == 0;
}

/*
 * "(Lock at app.py:12)": where the program's own code waits.  Conditions and events make a lock for each
 * wait: its address is not worth a row of its own.
 */
static void add_python_lock(const struct remote_stack *stack, const char *kind,
			    struct text *out)
{
	text_addf(out, "(%s", kind);
	for (size_t i = 0; stack && i < stack->count; i++) {
		const struct stack_frame *frame = &stack->frames[i];
		const char *slash = frame->file ? strrchr(frame->file, '/') : NULL;

		if (frame->kind != STACK_PYTHON || !frame->file || is_of_threading(frame->file))
			continue;
		const char *name = slash ? slash + 1 : frame->file;

		if (frame->line > 0) {
			text_add(out, " at ");
			text_add_printable(out, name, strlen(name));
			text_addf(out, ":%u", (unsigned)frame->line);
		}
		break;
	}
	text_add(out, ")");
}

static void read_label(struct remote *remote, const struct wait_thread *thread,
		       struct wait *wait)
{
	const struct task_call *call = &thread->call;
	CLEANUP(text_done) struct text text = { 0 };

	wait_describe(remote, call, true, &text);
	if (is_in(call, SYS_futex)) {
		if (wait->on == WAIT_ON_GIL)
			text_add(&text, "(GIL)");
		else if (wait->on == WAIT_ON_GVL)
			text_add(&text, "(GVL)");
		else if (wait->on == WAIT_ON_THREAD)
			text_add(&text, "(a thread's end)");
		else if (wait->on == WAIT_ON_RUBY_MUTEX)
			text_addf(&text, "(Mutex 0x%llx)", (unsigned long long)wait->object);
		else if (wait->on == WAIT_ON_MUTEX)
			text_addf(&text, "(mutex 0x%llx)", (unsigned long long)wait->object);
		else if (wait->on == WAIT_ON_PYTHON_LOCK)
			add_python_lock(thread->stack, "Lock", &text);
		else if (wait->on == WAIT_ON_PYTHON_RLOCK)
			add_python_lock(thread->stack, "RLock", &text);
		else if (wait->on == WAIT_ON_RWLOCK)
			text_addf(&text, "(rwlock 0x%llx)", (unsigned long long)wait->object);
	}
	if (text.len > 0)
		wait->label = keep_label(remote, &text, call);
}

/* A thread of Ruby's has a number once it has been given a thread of the system's. */
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

	if (thread->state == 'T' || thread->state == 't') {
		wait.state = WAIT_STATE_STOPPED;
	} else if (!thread->call.is_running) {
		wait.state = (uint8_t)state_of_call(remote, &thread->call);
		if (!read_gil(remote, &thread->call, &wait) &&
		    !read_ruby(remote, thread, &wait) && !read_python(remote, thread, &wait) &&
		    is_in(&thread->call, SYS_futex))
			read_futex(remote, &thread->call, &wait);
		read_label(remote, thread, &wait);
	}
	*out_wait = wait;
}
