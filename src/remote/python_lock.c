#include "remote/python_lock.h"

#include <string.h>
#include <sys/syscall.h>

#include "remote/process.h"
#include "remote/pthreads.h"
#include "remote/python.h"
#include "remote/stack.h"
#include "remote/task.h"
#include "walk/python_builtin.h"
#include "walk/python_thread.h"

#define FIRST_WITH_LOCKS 0x03060000U
/* From 3.13 on a thread that waits for a PyMutex blocks on a semaphore of its own. */
#define FIRST_PARKED 0x030d0000U
/* From 3.14 on locks are PyMutexes; in later releases of 3.13 (3.13.18) a Lock is one, too. */
#define FIRST_MUTEXES 0x030e0000U

/*
 * lockobject { PyObject_HEAD; lock; … }, rlockobject { PyObject_HEAD; lock; owner; count; … };
 * lock is a semaphore's address, or the PyMutex itself.
 */
#define LOCK_OFFSET  16U
#define OWNER_OFFSET 24U
/* struct wait_entry { void *park_arg; uintptr_t addr; _PySemaphore sema; … } */
#define PARKED_BEFORE 8U
/* Upper bound of a plausible reference count: the first word of a freed object is larger. */
#define MOST_REFERENCES (1ULL << 30)
/* Slots of a frame to search. */
#define MOST_SLOTS 256U
/*
 * ThreadHandle from 3.13 on: the words ident and os_handle, int has_os_handle, int state, a mutex of one
 * byte, the event thread_is_exiting.
 */
#define IDENT_BEFORE  24U
#define HANDLE_BEFORE 16U

static const struct python_layout *layout_of(const struct remote *remote)
{
	return remote_python_layout(remote->python);
}

static uint64_t head_more(const struct remote *remote)
{
	return python_head_more(layout_of(remote));
}

static bool is_of_type(struct remote *remote, uint64_t object, const char *name)
{
	const struct python_offsets *offsets = &layout_of(remote)->offsets;
	struct mem *mem = &remote->mem;
	const uint64_t type = python_word_at(mem, object + offsets->object_type);
	char found[16] = { 0 };

	return type != 0 &&
	       mem_read(mem, found, (uint32_t)strlen(name) + 1,
			python_word_at(mem, type + offsets->type_name)) >= 0 &&
	       strcmp(found, name) == 0;
}

bool python_is_lock(struct remote *remote, uint64_t object)
{
	return object != 0 && (is_of_type(remote, object, "_thread.lock") ||
			       is_of_type(remote, object, "_thread.RLock"));
}

uint64_t python_condition_lock(struct remote *remote, uint64_t object)
{
	return object != 0 && is_of_type(remote, object, "Condition")
		       ? python_slot_object(python_attribute_of(&remote->mem, layout_of(remote),
								object, "_lock"))
		       : 0;
}

/* Whether the object is a lock; stores its kind. */
static bool take_lock(struct remote *remote, uint64_t object, struct python_lock *out_lock)
{
	const bool is_recursive = is_of_type(remote, object, "_thread.RLock");

	if (!is_recursive && !is_of_type(remote, object, "_thread.lock"))
		return false;
	*out_lock = (struct python_lock){
		.object = object,
		.is_recursive = is_recursive,
		.inner_owner = is_recursive ? python_rlock_owner(remote, object) : 0,
	};
	return true;
}

/* Whether the object is a lock with the semaphore at the address. */
static bool has_semaphore(struct remote *remote, uint64_t object, uint64_t semaphore,
			  struct python_lock *out_lock)
{
	const uint64_t references = python_word_at(&remote->mem, object);

	return object != 0 &&
	       (layout_of(remote)->is_free_threaded || references - 1 < MOST_REFERENCES) &&
	       python_word_at(&remote->mem, object + head_more(remote) + LOCK_OFFSET) ==
		       semaphore &&
	       take_lock(remote, object, out_lock);
}

/* Tries the object in the slot, and the object that a bound method in it belongs to. */
static bool try_slot(struct remote *remote, uint64_t address, uint64_t semaphore,
		     struct python_lock *out_lock)
{
	const struct python_layout *layout = layout_of(remote);
	struct mem *mem = &remote->mem;
	const uint64_t object = python_slot_object(python_word_at(mem, address));

	if (object == 0)
		return false;
	return has_semaphore(remote, object, semaphore, out_lock) ||
	       (python_word_at(mem, object + layout->offsets.object_type) ==
			layout->builtin_type &&
		has_semaphore(remote,
			      python_slot_object(python_word_at(
				      mem, object + layout->offsets.builtin_self)),
			      semaphore, out_lock));
}

static const struct stack_frame *innermost_of(const struct remote_stack *stack)
{
	for (size_t i = 0; stack && i < stack->count; i++) {
		if (stack->frames[i].kind == STACK_PYTHON)
			return &stack->frames[i];
	}
	return NULL;
}

/*
 * The lock with this semaphore. The waiting call has a reference to it: on its caller's value
 * stack, or in a variable.
 */
static struct python_lock find_in_frame(struct remote *remote, const struct stack_frame *frame,
					uint64_t semaphore)
{
	const struct python_layout *layout = layout_of(remote);
	const struct python_frame place = { .address = frame->object, .code = frame->code };
	struct python_lock lock = { 0 };
	struct python_slots slots;
	uint64_t at, locals;

	if (python_slots_of(&remote->mem, layout, &place, &slots) < 0)
		return lock;
	locals = frame->object + layout->offsets.frame_locals;
	at = slots.end;
	for (uint32_t i = 0; i < MOST_SLOTS && at > locals; i++) {
		at -= sizeof(uint64_t);
		if (try_slot(remote, at, semaphore, &lock))
			break;
	}
	return lock;
}

static bool has_locks(const struct remote *remote, const struct task_call *call)
{
	return remote->python && !call->is_running && call->number == SYS_futex &&
	       layout_of(remote)->version >= FIRST_WITH_LOCKS;
}

struct python_lock python_lock_find(struct remote *remote, const struct task_call *call,
				    const struct remote_stack *stack)
{
	const struct stack_frame *frame = innermost_of(stack);
	const uint64_t futex = call->arguments[0];
	struct python_lock lock = { 0 };

	if (!frame || !has_locks(remote, call))
		return lock;
	if (layout_of(remote)->version >= FIRST_PARKED &&
	    take_lock(remote,
		      python_word_at(&remote->mem, futex - PARKED_BEFORE) - LOCK_OFFSET -
			      head_more(remote),
		      &lock))
		return lock;
	return layout_of(remote)->version < FIRST_MUTEXES ? find_in_frame(remote, frame, futex)
							  : lock;
}

bool python_lock_has_futex(struct remote *remote, uint64_t object, uint64_t futex)
{
	uint64_t lock;

	if (!remote->python)
		return false;
	lock = object + head_more(remote) + LOCK_OFFSET;
	return python_word_at(&remote->mem, lock) == futex ||
	       (layout_of(remote)->version >= FIRST_PARKED &&
		python_word_at(&remote->mem, futex - PARKED_BEFORE) == lock);
}

pid_t python_rlock_owner(struct remote *remote, uint64_t object)
{
	const uint64_t thread =
		python_word_at(&remote->mem, object + head_more(remote) + OWNER_OFFSET);

	return thread != 0 ? pthreads_tid_at(remote, thread) : 0;
}

/* Up to 3.12: Thread._wait_for_tstate_lock() waits for the end of the thread of its `self`. */
static uint64_t joined_by_frame(struct remote *remote, const struct stack_frame *frame)
{
	const struct python_layout *layout = layout_of(remote);
	const uint64_t self = python_slot_object(
		python_word_at(&remote->mem, frame->object + layout->offsets.frame_locals));
	uint64_t ident;
	uint32_t digits[3];

	if (self == 0 || !frame->name ||
	    strcmp(frame->plain_name ? frame->plain_name : frame->name,
		   "_wait_for_tstate_lock") != 0)
		return 0;
	ident = python_attribute_of(&remote->mem, layout, self, "_ident");
	/* An int: its size, or in 3.12 its tag, then digits of 30 bits. */
	if (ident == 0 ||
	    mem_read(&remote->mem, digits, sizeof digits, ident + head_more(remote) + 24) < 0)
		return 0;
	return digits[0] | (uint64_t)digits[1] << 30;
}

pid_t python_joined(struct remote *remote, const struct task_call *call,
		    const struct remote_stack *stack)
{
	const struct stack_frame *frame = innermost_of(stack);
	struct mem *mem = &remote->mem;
	uint64_t ident, event;

	if (!frame || !has_locks(remote, call))
		return 0;
	if (layout_of(remote)->version < FIRST_PARKED) {
		ident = joined_by_frame(remote, frame);
	} else {
		event = python_word_at(mem, call->arguments[0] - PARKED_BEFORE) & ~7ULL;
		ident = python_word_at(mem, event - IDENT_BEFORE);
		if (ident != python_word_at(mem, event - HANDLE_BEFORE))
			return 0;
	}
	return ident != 0 ? pthreads_tid_at(remote, ident) : 0;
}
