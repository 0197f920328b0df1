/*
 * What the agent makes of an interrupted system call, with registers and waiting signals made
 * by hand.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/syscall.h>

#include "agent/core/own_ring.h"
#include "agent/core/own_process.h"
#include "agent/core/permits.h"
#include "agent/core/arch.h"

struct own_ring own_ring;
struct own_process own_process;
struct permits permits;

#define BIT_OF(signal) (1ULL << ((signal)-1))

static struct {
	u64 waiting;
	u64 handlers[65];
	u64 flags[65];
	u32 calls;
} made_kernel;

static long made_syscall4(long number, long a, long b, long c, long d)
{
	made_kernel.calls++;
	if (number == SYS_rt_sigpending) {
		memcpy((void *)a, &made_kernel.waiting, sizeof made_kernel.waiting);
		return 0;
	}
	assert_int_equal(number, SYS_rt_sigaction);
	assert_int_equal(b, 0);
	assert_int_equal(d, 8);
	memcpy((void *)c, &made_kernel.handlers[a], 8);
	memcpy((void *)(c + 8), &made_kernel.flags[a], 8);
	return 0;
}

#define arch_syscall4 made_syscall4
#include "agent/signals/restart.c"

#ifdef __x86_64__

#define CALL_AT 0x401000

static ucontext_t interrupted;

/* The kernel has put a call back: `number` is to begin anew. */
static void put_call_back(long number)
{
	greg_t *registers = interrupted.uc_mcontext.gregs;

	registers[REG_RIP] = CALL_AT;
	registers[REG_RCX] = CALL_AT + ARCH_CALL_BYTES;
	registers[REG_RAX] = number;
	registers[REG_EFL] = 0x246;
	registers[REG_R11] = 0x246;
}

static void send(u32 signal, u64 flags)
{
	made_kernel.waiting |= BIT_OF(signal);
	made_kernel.handlers[signal] = 0x5000;
	made_kernel.flags[signal] = flags;
}

static int begin(void **state)
{
	(void)state;
	memset(&made_kernel, 0, sizeof made_kernel);
	memset(&interrupted, 0, sizeof interrupted);
	permits = (struct permits){ .may_call = true };
	put_call_back(SYS_read);
	return 0;
}

static void assert_fails(void)
{
	restart_mend(&interrupted);
	assert_int_equal(interrupted.uc_mcontext.gregs[REG_RAX], -EINTR);
	assert_int_equal(interrupted.uc_mcontext.gregs[REG_RIP], CALL_AT + ARCH_CALL_BYTES);
}

static void assert_untouched(void)
{
	const ucontext_t before = interrupted;

	restart_mend(&interrupted);
	assert_memory_equal(&interrupted, &before, sizeof before);
}

static void a_signal_without_restart_makes_the_call_fail(void **state)
{
	(void)state;
	send(SIGALRM, 0);
	assert_fails();
}

static void a_signal_with_restart_has_it_begin_anew(void **state)
{
	(void)state;
	send(SIGALRM, SA_RESTART);
	assert_untouched();
}

static void no_signal_has_it_begin_anew(void **state)
{
	(void)state;
	assert_untouched();
}

static void a_blocked_signal_is_not_delivered(void **state)
{
	(void)state;
	send(SIGALRM, 0);
	sigaddset(&interrupted.uc_sigmask, SIGALRM);
	assert_untouched();
}

static void an_ignored_signal_and_a_default_one_interrupt_nothing(void **state)
{
	(void)state;
	made_kernel.waiting = BIT_OF(SIGCHLD) | BIT_OF(SIGCONT);
	made_kernel.handlers[SIGCHLD] = (u64)SIG_IGN;
	assert_untouched();
}

static void the_first_handler_decides(void **state)
{
	(void)state;
	made_kernel.waiting = BIT_OF(SIGHUP);
	made_kernel.handlers[SIGHUP] = (u64)SIG_IGN;
	send(SIGUSR1, SA_RESTART);
	send(SIGALRM, 0);
	assert_untouched();
	made_kernel.waiting &= ~BIT_OF(SIGUSR1);
	assert_fails();
}

static void the_last_signal_counts(void **state)
{
	(void)state;
	send(64, 0);
	assert_fails();
}

static void another_trap_of_ours_is_no_signal_of_the_programs(void **state)
{
	(void)state;
	send(SIGTRAP, 0);
	assert_untouched();
}

static void calls_that_never_fail_begin_anew(void **state)
{
	static const long numbers[] = { SYS_fork, SYS_clone, SYS_clone3, SYS_execve };

	(void)state;
	send(SIGALRM, 0);
	for (u32 i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		put_call_back(numbers[i]);
		assert_untouched();
	}
}

static void a_lock_with_priorities_begins_anew_and_a_wait_fails(void **state)
{
	(void)state;
	send(SIGALRM, 0);
	put_call_back(SYS_futex);
	interrupted.uc_mcontext.gregs[REG_RSI] = FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG;
	assert_untouched();
	interrupted.uc_mcontext.gregs[REG_RSI] = FUTEX_WAIT | FUTEX_PRIVATE_FLAG;
	assert_fails();
}

static void user_code_is_left_alone_and_nothing_is_called(void **state)
{
	(void)state;
	send(SIGALRM, 0);
	interrupted.uc_mcontext.gregs[REG_RCX] = 7;
	assert_untouched();
	put_call_back(SYS_read);
	/* Behind the call: it is over. */
	interrupted.uc_mcontext.gregs[REG_RIP] += ARCH_CALL_BYTES;
	assert_untouched();
	/* Something was compared since the last call from this place. */
	put_call_back(SYS_read);
	interrupted.uc_mcontext.gregs[REG_EFL] = 0x297;
	assert_untouched();
	assert_int_equal(made_kernel.calls, 0);
}

static void under_a_filter_nothing_is_called(void **state)
{
	(void)state;
	send(SIGALRM, 0);
	permits.may_call = false;
	assert_untouched();
	assert_int_equal(made_kernel.calls, 0);
}

#define RESTART(test) cmocka_unit_test_setup(test, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RESTART(a_signal_without_restart_makes_the_call_fail),
		RESTART(a_signal_with_restart_has_it_begin_anew),
		RESTART(no_signal_has_it_begin_anew),
		RESTART(a_blocked_signal_is_not_delivered),
		RESTART(an_ignored_signal_and_a_default_one_interrupt_nothing),
		RESTART(the_first_handler_decides),
		RESTART(the_last_signal_counts),
		RESTART(another_trap_of_ours_is_no_signal_of_the_programs),
		RESTART(calls_that_never_fail_begin_anew),
		RESTART(a_lock_with_priorities_begins_anew_and_a_wait_fails),
		RESTART(user_code_is_left_alone_and_nothing_is_called),
		RESTART(under_a_filter_nothing_is_called),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return 77; /* On other machines such a call looks like one that begins. */
}

#endif
