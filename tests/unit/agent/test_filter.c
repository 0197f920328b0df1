/*
 * What seccomp filters say of system calls, read as the kernel executes them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cmocka.h>

#include "agent/core/filter.h"
#include "agent/core/memory.h"

static bool is_readable = true;

/* What filter.c looks at is ours here. */
bool memory_probe_all(u64 address, u64 bytes)
{
	(void)bytes;
	return address != 0 && is_readable;
}

#define NUMBER                   offsetof(struct seccomp_data, nr)
#define MACHINE                  offsetof(struct seccomp_data, arch)
#define LOAD(field)              BPF_STMT(BPF_LD | BPF_W | BPF_ABS, field)
#define RETURN(action)           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_##action)
#define IF_EQUAL(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)

#if defined(__x86_64__)
#define OURS AUDIT_ARCH_X86_64
#else
#define OURS AUDIT_ARCH_AARCH64
#endif

static bool allows(const struct sock_filter *steps, unsigned short count, long number)
{
	return filter_allows(&(struct sock_fprog){ count, (struct sock_filter *)steps },
			     number);
}
#define ALLOWS(steps, number) allows(steps, sizeof steps / sizeof *steps, number)

static void a_list_of_calls_is_what_is_allowed(void **state)
{
	/* As libseccomp makes them: another machine's calls kill. */
	static const struct sock_filter steps[] = {
		LOAD(MACHINE),
		IF_EQUAL(OURS, 1, 0),
		RETURN(KILL_PROCESS),
		LOAD(NUMBER),
		IF_EQUAL(SYS_read, 2, 0),
		IF_EQUAL(SYS_write, 1, 0),
		RETURN(KILL_THREAD),
		RETURN(ALLOW),
	};

	(void)state;
	assert_true(ALLOWS(steps, SYS_read));
	assert_true(ALLOWS(steps, SYS_write));
	assert_false(ALLOWS(steps, SYS_getpid));
}

static void only_allow_and_log_let_a_call_be_made(void **state)
{
	static const struct sock_filter allow[] = { RETURN(ALLOW) }, log[] = { RETURN(LOG) };
	static const struct sock_filter trap[] = { RETURN(TRAP) }, trace[] = { RETURN(TRACE) };
	static const struct sock_filter fails[] = { BPF_STMT(BPF_RET | BPF_K,
							     SECCOMP_RET_ERRNO | 1) };

	(void)state;
	assert_true(ALLOWS(allow, SYS_read));
	assert_true(ALLOWS(log, SYS_read));
	assert_false(ALLOWS(trap, SYS_read));
	assert_false(ALLOWS(trace, SYS_read));
	assert_false(ALLOWS(fails, SYS_read));
}

static void steps_compute_and_remember(void **state)
{
	/* (number + 3) * 2 in memory, compared by way of the index. */
	static const struct sock_filter steps[] = {
		LOAD(NUMBER),
		BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 3),
		BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, 2),
		BPF_STMT(BPF_ST, 5),
		BPF_STMT(BPF_LDX | BPF_W | BPF_MEM, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_IMM, 2 * (SYS_close + 3)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 1),
		RETURN(ALLOW),
		BPF_STMT(BPF_MISC | BPF_TXA, 0),
		BPF_STMT(BPF_RET | BPF_A, 0), /* small: kills */
	};

	(void)state;
	assert_true(ALLOWS(steps, SYS_close));
	assert_false(ALLOWS(steps, SYS_read));
}

static void ranges_and_bits_decide(void **state)
{
	static const struct sock_filter steps[] = {
		LOAD(NUMBER),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 200, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 100, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 1, 1, 0),
		RETURN(KILL_PROCESS),
		RETURN(ALLOW),
	};

	(void)state;
	assert_false(ALLOWS(steps, 201));
	assert_true(ALLOWS(steps, 150));
	assert_true(ALLOWS(steps, 100));
	assert_true(ALLOWS(steps, 51));
	assert_false(ALLOWS(steps, 50));
}

static void what_no_kernel_takes_does_no_harm(void **state)
{
	static const struct sock_filter endless[] = { LOAD(NUMBER) };
	static const struct sock_filter beyond[] = { LOAD(4096),
						     BPF_STMT(BPF_JMP | BPF_JA, 99999) };
	static const struct sock_filter none[] = { RETURN(KILL_PROCESS) };

	(void)state;
	assert_false(ALLOWS(endless, SYS_read));
	assert_false(ALLOWS(beyond, SYS_read));
	/* The call that sets such a filter fails. */
	is_readable = false;
	assert_true(ALLOWS(none, SYS_read));
	is_readable = true;
	assert_false(ALLOWS(none, SYS_read));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_of_calls_is_what_is_allowed),
		cmocka_unit_test(only_allow_and_log_let_a_call_be_made),
		cmocka_unit_test(steps_compute_and_remember),
		cmocka_unit_test(ranges_and_bits_decide),
		cmocka_unit_test(what_no_kernel_takes_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
