/*
 * start - the agent's constructor, which runs before the program, and its handlers of fork().
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "abi/handshake.h"
#include "abi/ring.h"
#include "agent/core/own_handshake.h"
#include "agent/core/own_process.h"
#include "agent/core/own_ring.h"
#include "agent/core/permits.h"
#include "agent/core/agent_state.h"
#include "agent/core/arch.h"
#include "agent/core/cpu_time.h"
#include "agent/core/environment.h"
#include "agent/core/handshake.h"
#include "agent/core/hooks.h"
#include "agent/core/images.h"
#include "agent/core/mechanism.h"
#include "agent/core/memory.h"
#include "agent/core/program_start.h"
#include "agent/core/start.h"
#include "agent/core/thread_notes.h"

struct own_ring own_ring AGENT_STATE;
struct own_process own_process AGENT_STATE;
struct permits permits AGENT_STATE;
struct own_handshake own_handshake AGENT_STATE;
/* Set before a fork: the child would touch a page of the ring to find it. */
static u64 delay_of_child_ns AGENT_STATE;
struct program_start program_start AGENT_STATE;
__thread struct thread_notes thread_notes;

#define STACK_MAX     (1ULL << 30)
#define STACK_DEFAULT (8ULL << 20)

/*
 * The initial stack ends with the name the program was started by (fs/binfmt_elf.c,
 * create_elf_tables); the kernel keeps other mappings as far away from it as RLIMIT_STACK says.
 */
AGENT_START static void find_main_stack(void)
{
	const char *name = (const char *)getauxval(AT_EXECFN);
	struct rlimit limit;

	if (name == NULL)
		return;
	u64 end = (u64)name + strlen(name) + 1;

	program_start.stack_top = (end + MEMORY_PAGE - 1) & ~(MEMORY_PAGE - 1);
	program_start.stack_bytes = STACK_DEFAULT;
	if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur <= STACK_MAX)
		program_start.stack_bytes = limit.rlim_cur;
}

AGENT_START bool agent_is_of_another(void)
{
	return own_process.pid != (int)arch_syscall4(SYS_getpid, 0, 0, 0, 0);
}

AGENT_START static void before_fork(void)
{
	delay_of_child_ns = environment_delay_of_children_ns();
	MECHANISMS_DO(before_fork, ());
}

AGENT_START static void after_fork_in_parent(void)
{
	MECHANISMS_DO(after_fork_in_parent, ());
}

/* Makes the handshake after delay_ns of CPU time; 0: now. */
AGENT_START static void make_handshake(u32 occasion, u64 delay_ns)
{
	if (delay_ns == 0 || !MECHANISMS_ASK(delay_handshake, (occasion, delay_ns)))
		handshake_run(occasion, HANDSHAKE_NO_REASON);
}

/*
 * Reports the CPU time of our start, which the recorder adds to the overhead.  How long the
 * answer took is not part of it: that depends on what else the machine does.
 */
AGENT_START static void note_start(u64 begin_ns)
{
	struct ring_header *ring = own_ring.header;

	if (ring != NULL && permits.may_call)
		__atomic_store_n(&ring->start_ns, cpu_time_of_thread_ns() - begin_ns,
				 __ATOMIC_RELAXED);
}

/* A child of fork has no ring or timer of its parent's: it makes its own handshake. */
AGENT_START static void after_fork_in_child(void)
{
	const bool was_followed =
		(own_ring.header != NULL && !own_ring.has_left) || own_handshake.is_due;
	const u64 delay_ns = delay_of_child_ns;
	const bool makes_handshake =
		was_followed && permits.may_call && !own_handshake.leaves_children;
	const u64 begin_ns = makes_handshake && delay_ns == 0 ? cpu_time_of_thread_ns() : 0;

	own_process.pid = (int)arch_syscall4(SYS_getpid, 0, 0, 0, 0);
	/* No handshake will clear it. */
	if (own_handshake.leaves_children)
		own_handshake.may_be_trapped = false;
	threads_forget_others();
	handshake_forget();
	/* Under a filter of the parent's, opening a socket may kill (permits.may_call). */
	if (makes_handshake)
		make_handshake(HANDSHAKE_FORK, delay_ns);
	MECHANISMS_DO(after_fork, ());
	MECHANISMS_DO(settle, ());
	note_start(begin_ns);
}

AGENT_START static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

AGENT_START void start_follow_forks(void)
{
	pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

/*
 * We are linked with -z initfirst: this runs before the constructors of every other library, so
 * that they see the environment as without us, and what they start is sampled.  It also runs
 * before libc's own (csu/init-first.c), which sets environ and program_invocation_name:
 * functions that are called in here must not need these.  Memory, threads and signals are ready
 * by then, since ld.so saw to that (__libc_early_init; glibc 2.32).
 */
__attribute__((constructor)) static void start(int argc, char **argv, char **environment)
{
	int saved_errno = errno;
	const u64 begin_ns = cpu_time_of_thread_ns();

	environment_take(environment);
	/* Loaded by dlopen(), or preloaded by a user: attach.c does the rest. */
	const bool is_attached = environment_socket() == NULL;

	program_start.name = argc > 0 ? last_part(argv[0]) : "";
	program_start.arguments = (const char *const *)argv;
	permits.may_call = true;
	permits.may_read_counter = true;
	/* A filter that was set before us may kill for an unusual call. */
	permits.may_copy = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_DISABLED;
	hooks_begin();
	for (const struct mechanism *const *row = mechanisms; *row != NULL; row++) {
		if ((*row)->hooks != NULL)
			hooks_find((*row)->hooks);
	}
	find_main_stack();
	images_begin(is_attached);
	program_start.thread_pointer = is_attached ? 0 : arch_thread_pointer();
	program_start.headers = (const void *)getauxval(AT_PHDR);
	program_start.header_count = (u32)getauxval(AT_PHNUM);
	if (!is_attached) {
		MECHANISMS_DO(start, ());
		make_handshake(HANDSHAKE_START, environment_delay_ns());
		MECHANISMS_DO(settle, ());
		start_follow_forks();
		note_start(begin_ns);
	}
	errno = saved_errno;
}
