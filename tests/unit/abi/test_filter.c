/* What a filter may say to a call of which only some arguments are known. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "abi/filter.h"

#define NUMBER          offsetof(struct seccomp_data, nr)
#define ARGUMENT(i)     (offsetof(struct seccomp_data, args) + 8 * (i))
#define LOAD(field)     BPF_STMT(BPF_LD | BPF_W | BPF_ABS, field)
#define RETURN(answer)  BPF_STMT(BPF_RET | BPF_K, answer)
#define COUNT(steps)    (sizeof(steps) / sizeof *(steps))
#define ANSWER(f, call) filter_answer((const struct filter_step *)(f), COUNT(f), call)

/* mmap() that may not both write and execute. */
static const struct sock_filter no_writable_code[] = {
	LOAD(NUMBER),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
	LOAD(ARGUMENT(2)),
	BPF_STMT(BPF_ALU | BPF_AND | BPF_K, PROT_WRITE | PROT_EXEC),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROT_WRITE | PROT_EXEC, 1, 0),
	RETURN(SECCOMP_RET_ALLOW),
	RETURN(SECCOMP_RET_ERRNO | 1),
};

static void test_an_argument_that_is_known_decides(void **state)
{
	struct filter_call call = { .number = SYS_mmap, .known = 1U << 2 };

	(void)state;
	call.arguments[2] = PROT_READ | PROT_EXEC;
	assert_int_equal(ANSWER(no_writable_code, &call), SECCOMP_RET_ALLOW);
	call.arguments[2] = PROT_READ | PROT_WRITE | PROT_EXEC;
	assert_int_equal(ANSWER(no_writable_code, &call), SECCOMP_RET_ERRNO | 1);
	assert_false(filter_answer_allows(ANSWER(no_writable_code, &call)));
}

static void test_of_an_unknown_argument_the_worst_is_supposed(void **state)
{
	(void)state;
	assert_int_equal(ANSWER(no_writable_code, &(struct filter_call){ .number = SYS_mmap }),
			 SECCOMP_RET_ERRNO | 1);
	assert_int_equal(ANSWER(no_writable_code, &(struct filter_call){ .number = SYS_read }),
			 SECCOMP_RET_ALLOW);
}

static void test_the_upper_half_of_an_argument_is_its_own_word(void **state)
{
	static const struct sock_filter upper[] = {
		LOAD(ARGUMENT(5) + 4),
		BPF_STMT(BPF_RET | BPF_A, 0),
	};
	struct filter_call call = { .known = 1U << 5 };

	(void)state;
	call.arguments[5] = (uint64_t)SECCOMP_RET_LOG << 32;
	assert_int_equal(ANSWER(upper, &call), SECCOMP_RET_LOG);
	assert_true(filter_answer_allows(SECCOMP_RET_LOG));
	/* An answer that is not known may be any. */
	call.known = 0;
	assert_int_equal(ANSWER(upper, &call), FILTER_WORST);
}

static void test_the_strictest_answer_is_the_kernels(void **state)
{
	/* argument 0 below 10 traps, below 20 kills the thread, else fails. */
	static const struct sock_filter three[] = {
		LOAD(ARGUMENT(0)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 10, 1, 0),
		RETURN(SECCOMP_RET_TRAP),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 20, 1, 0),
		RETURN(SECCOMP_RET_KILL_THREAD),
		RETURN(SECCOMP_RET_ERRNO | 38),
	};
	struct filter_call call = { .number = SYS_read };

	(void)state;
	assert_int_equal(ANSWER(three, &call), SECCOMP_RET_KILL_THREAD);
	/* It ends without an answer. */
	assert_int_equal(filter_answer((const struct filter_step *)three, 1, &call),
			 FILTER_WORST);
	call.known = 1;
	call.arguments[0] = 30;
	assert_int_equal(ANSWER(three, &call), SECCOMP_RET_ERRNO | 38);
}

static void test_memory_and_index_remember_what_is_unknown(void **state)
{
	static const struct sock_filter steps[] = {
		LOAD(ARGUMENT(1)),
		BPF_STMT(BPF_ST, 3),
		BPF_STMT(BPF_LDX | BPF_W | BPF_MEM, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_IMM, 7),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 1),
		RETURN(SECCOMP_RET_ALLOW),
		RETURN(SECCOMP_RET_KILL_PROCESS),
	};
	struct filter_call call = { .known = 1U << 1, .arguments = { 0, 7 } };

	(void)state;
	assert_int_equal(ANSWER(steps, &call), SECCOMP_RET_ALLOW);
	call.known = 0;
	assert_int_equal(ANSWER(steps, &call), SECCOMP_RET_KILL_PROCESS);
}

static void test_too_many_ways_are_refused(void **state)
{
	struct sock_filter steps[BPF_MAXINSNS];
	const struct sock_filter question = BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 1, 0, 0);

	(void)state;
	steps[0] = (struct sock_filter)LOAD(ARGUMENT(0));
	for (int i = 1; i < BPF_MAXINSNS - 1; i++)
		steps[i] = question;
	steps[BPF_MAXINSNS - 1] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
	assert_int_equal(ANSWER(steps, &(struct filter_call){ .known = 1 }), SECCOMP_RET_ALLOW);
	assert_int_equal(ANSWER(steps, &(struct filter_call){ .known = 0 }), FILTER_WORST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_argument_that_is_known_decides),
		cmocka_unit_test(test_of_an_unknown_argument_the_worst_is_supposed),
		cmocka_unit_test(test_the_upper_half_of_an_argument_is_its_own_word),
		cmocka_unit_test(test_the_strictest_answer_is_the_kernels),
		cmocka_unit_test(test_memory_and_index_remember_what_is_unknown),
		cmocka_unit_test(test_too_many_ways_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
