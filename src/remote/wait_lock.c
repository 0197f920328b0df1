#include "remote/wait_lock.h"

#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>

#include "remote/calls.h"
#include "remote/process.h"
#include "remote/pthreads.h"
#include "remote/task.h"

/* The lock field of a glibc mutex that threads wait for (lowlevellock.h). */
#define LOCKED_WAITED_FOR 2
/* pthread_mutex_t: lock, count, owner, nusers, kind (glibc, struct_mutex.h). */
struct mutex {
	int32_t lock;
	uint32_t count;
	int32_t owner;
	uint32_t users;
	int32_t kind;
};
/* PTHREAD_MUTEX_KIND_MASK_NP and the bits for robust, priority and elision. */
#define MUTEX_KINDS  0x7ff
#define MUTEX_ROBUST 0x10

/* The beginning of pthread_rwlock_t (glibc 2.25 and later, struct_rwlock.h). */
struct rwlock {
	uint32_t readers, writers, phase_futex, writers_futex, padding[2];
	int32_t writer, shared;
};
/* Bits of readers; the count of readers is above them (pthread_rwlock_common.c). */
#define PHASE_IS_WRITE  1U
#define IS_WRITE_LOCKED 2U
#define READERS_SHIFT   3
/* Value of phase_futex and writers_futex while threads wait for them: 2, possibly plus 1. */
#define FUTEX_USED 2U
#define FUTEX_MOST 3U

/* Addresses remembered per process. */
#define MUTEXES_MOST 65536U

static bool is_futex(const struct task_call *call)
{
	const struct call *known = call->is_running ? NULL : call_find(call->number);

	return known && known->on == CALL_ON_FUTEX;
}

static bool read_rwlock(struct remote *remote, uint64_t address, struct rwlock *out_rwlock)
{
	return mem_read(&remote->mem, out_rwlock, sizeof *out_rwlock, address) >= 0 &&
	       (out_rwlock->readers & IS_WRITE_LOCKED) &&
	       out_rwlock->phase_futex <= FUTEX_MOST &&
	       out_rwlock->writers_futex <= FUTEX_MOST && out_rwlock->padding[0] == 0 &&
	       out_rwlock->padding[1] == 0 && out_rwlock->shared >= 0 &&
	       out_rwlock->shared <= 1;
}

pid_t wait_rwlock_writer(struct remote *remote, uint64_t address)
{
	struct rwlock rwlock;

	return read_rwlock(remote, address, &rwlock) && (rwlock.readers & PHASE_IS_WRITE)
		       ? rwlock.writer
		       : 0;
}

/*
 * A futex in a read-write lock: readers and the first writer wait on phase_futex, further
 * writers on writers_futex.
 */
static struct wait_lock find_rwlock(struct remote *remote, const struct task_call *call)
{
	static const size_t futexes[] = { offsetof(struct rwlock, phase_futex),
					  offsetof(struct rwlock, writers_futex) };
	const uint64_t command = call->arguments[1] & FUTEX_CMD_MASK;

	for (size_t i = 0; i < 2; i++) {
		struct wait_lock lock = { .address = call->arguments[0] - futexes[i],
					  .is_rwlock = true };
		struct rwlock rwlock;

		if ((command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET) ||
		    (call->arguments[2] | 1) != (FUTEX_USED | 1) ||
		    !read_rwlock(remote, lock.address, &rwlock))
			continue;
		if ((i == 0 ? rwlock.phase_futex : rwlock.writers_futex) != call->arguments[2])
			continue;
		if (rwlock.readers & PHASE_IS_WRITE)
			lock.inner_owner = rwlock.writer;
		else
			lock.readers = rwlock.readers >> READERS_SHIFT;
		if (lock.inner_owner > 0 || lock.readers > 0)
			return lock;
	}
	return (struct wait_lock){ 0 };
}

/*
 * Whether the address was seen to be a mutex before: while a mutex is handed over, its fields
 * do not show that.
 */
static bool is_known_mutex(struct remote *remote, uint64_t address)
{
	uint64_t value;

	return table_get(&remote->mutexes, 0, address, &value);
}

static void know_mutex(struct remote *remote, uint64_t address)
{
	if (remote->mutexes.count < MUTEXES_MOST)
		table_at(&remote->mutexes, 0, address, NULL);
}

/*
 * The lock field of a robust mutex that threads wait for is its owner, and FUTEX_WAITERS: in their
 * calls an earlier owner, if it was passed on meanwhile.
 */
static bool is_robust(const struct mutex *mutex, uint64_t expected)
{
	return (mutex->kind & MUTEX_ROBUST) && (mutex->kind & ~MUTEX_KINDS) == 0 &&
	       mutex->owner > 0 &&
	       (uint32_t)mutex->lock == ((uint32_t)mutex->owner | FUTEX_WAITERS) &&
	       (expected & FUTEX_WAITERS);
}

struct wait_lock wait_find_lock(struct remote *remote, const struct task_call *call)
{
	const uint64_t command = call->arguments[1] & FUTEX_CMD_MASK;
	struct wait_lock lock = { 0 };
	struct mutex mutex;

	if (!is_futex(call) ||
	    mem_read(&remote->mem, &mutex, sizeof mutex, call->arguments[0]) < 0)
		return lock;
	if (command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2)
		lock.inner_owner = mutex.lock & FUTEX_TID_MASK;
	else if ((command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) &&
		 call->arguments[2] == LOCKED_WAITED_FOR && mutex.lock == LOCKED_WAITED_FOR &&
		 mutex.users > 0 && (mutex.kind & ~MUTEX_KINDS) == 0)
		lock.inner_owner = mutex.owner;
	else if ((command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) &&
		 is_robust(&mutex, call->arguments[2]))
		lock.inner_owner = mutex.owner;
	if (lock.inner_owner > 0)
		know_mutex(remote, call->arguments[0]);
	else if (call->arguments[2] != LOCKED_WAITED_FOR ||
		 !is_known_mutex(remote, call->arguments[0]))
		return find_rwlock(remote, call);
	lock.address = call->arguments[0];
	return lock;
}

pid_t wait_mutex_owner(struct remote *remote, uint64_t address)
{
	struct mutex mutex;

	if (mem_read(&remote->mem, &mutex, sizeof mutex, address) < 0 || mutex.lock == 0)
		return 0;
	return mutex.owner;
}

/*
 * At a thread's end the kernel clears its struct pthread.tid and wakes this futex (glibc,
 * pthread_join_common.c).
 */
pid_t wait_find_joined(struct remote *remote, const struct task_call *call)
{
	const pid_t tid = is_futex(call) ? pthreads_tid_of_word(remote, call->arguments[0]) : 0;

	return tid > 0 && (uint64_t)tid == call->arguments[2] ? tid : 0;
}
