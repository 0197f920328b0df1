#include "remote/ruby_wait.h"

#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "remote/stack.h"

/* Of a Mutex whose caller is no condition: it sleeps for a time. */
static const struct ruby_wait mutex_sleep = { "Mutex#sleep", WAIT_STATE_SLEEP, NULL, 0 };

#define CONDITION  RUBY_WAIT_CONDITION
#define FUTEX      RUBY_WAIT_FUTEX
#define OWN        RUBY_WAIT_OWN
#define UNSELECTED RUBY_WAIT_UNSELECTED
static const struct ruby_wait waits[] = {
	{ "Kernel#sleep", WAIT_STATE_SLEEP, NULL, 0 },
	{ "Kernel.sleep", WAIT_STATE_SLEEP, NULL, 0 },
	/* Without descriptors; from 2.7 on this is no call of select(2). */
	{ "IO.select", WAIT_STATE_SLEEP, NULL, UNSELECTED },
	{ "Kernel.select", WAIT_STATE_SLEEP, NULL, UNSELECTED },
	{ "Kernel#select", WAIT_STATE_SLEEP, NULL, UNSELECTED },
	{ "Thread#join", WAIT_STATE_WAIT, NULL, 0 },
	{ "Thread#value", WAIT_STATE_WAIT, NULL, 0 },
	{ "Thread.stop", WAIT_STATE_WAIT, NULL, 0 },
	{ "Process.wait", WAIT_STATE_WAIT, "a child", 0 },
	{ "Process.wait2", WAIT_STATE_WAIT, "a child", 0 },
	{ "Process.waitpid", WAIT_STATE_WAIT, "a child", 0 },
	{ "Process.waitpid2", WAIT_STATE_WAIT, "a child", 0 },
	{ "Process.waitall", WAIT_STATE_WAIT, "a child", 0 },
	{ "Process::Status.wait", WAIT_STATE_WAIT, "a child", 0 },
	{ "Kernel#system", WAIT_STATE_WAIT, "a child", 0 },
	{ "Kernel#`", WAIT_STATE_WAIT, "a child", FUTEX },
	{ "IO.popen", WAIT_STATE_WAIT, "a child", OWN },
	{ "IO#close", WAIT_STATE_WAIT, "a child", OWN },
	/* From 3.3 on a thread of C looks a name up. */
	{ "Addrinfo.getaddrinfo", WAIT_STATE_IO, "address lookup", FUTEX },
	{ "Addrinfo.new", WAIT_STATE_IO, "address lookup", FUTEX },
	{ "Socket.getaddrinfo", WAIT_STATE_IO, "address lookup", FUTEX },
	{ "IPSocket.getaddress", WAIT_STATE_IO, "address lookup", FUTEX },
	{ "TCPSocket#initialize", WAIT_STATE_IO, "address lookup", FUTEX },
	{ "TCPServer#initialize", WAIT_STATE_IO, "address lookup", FUTEX },
	{ "Mutex#sleep", WAIT_STATE_LOCK, "ConditionVariable#wait", CONDITION },
	{ "Mutex#lock", WAIT_STATE_LOCK, "Mutex", 0 },
	{ "Mutex#synchronize", WAIT_STATE_LOCK, "Mutex", 0 },
	{ "ConditionVariable#wait", WAIT_STATE_LOCK, NULL, CONDITION },
	{ "Monitor#enter", WAIT_STATE_LOCK, "Monitor", 0 },
	{ "Monitor#mon_enter", WAIT_STATE_LOCK, "Monitor", 0 },
	{ "Monitor#synchronize", WAIT_STATE_LOCK, "Monitor", 0 },
	{ "Monitor#mon_synchronize", WAIT_STATE_LOCK, "Monitor", 0 },
	{ "Monitor#wait_for_cond", WAIT_STATE_LOCK, "ConditionVariable#wait", CONDITION },
	{ "Queue#pop", WAIT_STATE_LOCK, NULL, 0 },
	{ "Queue#shift", WAIT_STATE_LOCK, NULL, 0 },
	{ "Queue#deq", WAIT_STATE_LOCK, NULL, 0 },
	{ "SizedQueue#pop", WAIT_STATE_LOCK, NULL, 0 },
	{ "SizedQueue#shift", WAIT_STATE_LOCK, NULL, 0 },
	{ "SizedQueue#deq", WAIT_STATE_LOCK, NULL, 0 },
	{ "SizedQueue#push", WAIT_STATE_LOCK, NULL, 0 },
	{ "SizedQueue#<<", WAIT_STATE_LOCK, NULL, 0 },
	{ "SizedQueue#enq", WAIT_STATE_LOCK, NULL, 0 },
	{ "Ractor.receive", WAIT_STATE_LOCK, NULL, 0 },
	{ "Ractor.receive_if", WAIT_STATE_LOCK, NULL, 0 },
	{ "Ractor.yield", WAIT_STATE_LOCK, NULL, 0 },
	{ "Ractor.select", WAIT_STATE_LOCK, NULL, 0 },
	{ "Ractor#take", WAIT_STATE_LOCK, NULL, 0 },
};
#undef CONDITION
#undef FUTEX
#undef OWN
#undef UNSELECTED

/* Implemented in C, or in Ruby's own Ruby code, as Queue#pop from 3.2 on. */
static bool is_rubys_own(const struct stack_frame *frame)
{
	const char *internal = "<internal:";

	return frame->kind == STACK_RUBY_C ||
	       (frame->kind == STACK_RUBY && frame->file &&
		strncmp(frame->file, internal, strlen(internal)) == 0);
}

bool ruby_wait_is_in(int64_t call)
{
	static const int64_t calls[] = {
		SYS_futex, SYS_ppoll,  SYS_pselect6,
#ifdef SYS_poll
		SYS_poll,  SYS_select, SYS_epoll_wait,
#endif
	};

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		if (calls[i] == call)
			return true;
	}
	return false;
}

/* The first frame from `from` on that is not native; NULL: there is none. */
static const struct stack_frame *next_of_ruby(const struct remote_stack *stack, size_t from,
					      size_t *out_at)
{
	size_t i = from;

	while (i < stack->count && stack->frames[i].kind == STACK_NATIVE)
		i++;
	*out_at = i;
	return i < stack->count ? &stack->frames[i] : NULL;
}

/* The method's name without "Thread::", if it is one of Ruby's own; else "". */
static const char *own_method(const struct stack_frame *frame)
{
	const size_t prefix = strlen("Thread::");

	if (!frame || !is_rubys_own(frame) || !frame->name)
		return "";
	return frame->name + (strncmp(frame->name, "Thread::", prefix) == 0 ? prefix : 0);
}

static bool is_by(const struct ruby_wait *wait, int64_t call)
{
	if (wait->flags & RUBY_WAIT_FUTEX)
		return call == SYS_futex;
	if (wait->flags & RUBY_WAIT_UNSELECTED)
		return call == SYS_futex || call == SYS_ppoll;
	return !(wait->flags & RUBY_WAIT_OWN) || ruby_wait_is_in(call);
}

const struct ruby_wait *ruby_wait_of(const struct remote_stack *stack, int64_t call)
{
	const char *name;
	size_t at = 0;

	if (!stack)
		return NULL;
	name = own_method(next_of_ruby(stack, 0, &at));
	if (strcmp(name, mutex_sleep.method) == 0 &&
	    strcmp(own_method(next_of_ruby(stack, at + 1, &at)), "ConditionVariable#wait") != 0)
		return &mutex_sleep;
	for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
		if (strcmp(name, waits[i].method) == 0)
			return is_by(&waits[i], call) ? &waits[i] : NULL;
	}
	return NULL;
}
