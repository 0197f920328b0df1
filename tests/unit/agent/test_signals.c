/*
 * What the program set for SIGTRAP, and which signals it blocks, as the kernel has them and back.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/signals/saved_action.h"
#include "agent/signals/signals.h"

static void a_mask_comes_back_as_the_program_set_it(void **state)
{
	static const u64 others[] = { 0, SIGNAL_BIT(SIGINT),
				      SIGNAL_BIT(SIGINT) | SIGNAL_BIT(64) };

	(void)state;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		for (unsigned int bits = 0; bits < 4; bits++) {
			const bool has_substitute = bits & 1;
			const u64 theirs = others[i] | (has_substitute ? SUBSTITUTE_BIT : 0) |
					   (bits & 2 ? SIGNAL_BIT(SIGTRAP) : 0);
			const u64 kernel = signals_to_kernel(theirs);

			/* SIGTRAP is never blocked: it samples. */
			assert_false(kernel & SIGNAL_BIT(SIGTRAP));
			assert_true(signals_to_program(kernel, has_substitute) == theirs);
		}
	}
}

static void first_handler(int signal)
{
	(void)signal;
}

static void second_handler(int signal)
{
	(void)signal;
}

static void the_latest_action_is_read(void **state)
{
	struct saved_action saved = { 0 };
	struct sigaction action = { .sa_handler = first_handler };

	(void)state;
	for (int i = 0; i < 3 * SAVED_ACTION_SLOTS; i++) {
		action.sa_flags = i;
		saved_action_write(&saved, &action);
		struct sigaction read = { 0 };
		const u32 number = saved_action_read(&saved, &read);

		assert_int_equal(read.sa_flags, i);
		assert_true(read.sa_handler == first_handler);
		assert_true(saved_action_is_current(&saved, number));
	}
}

static void an_action_is_replaced_only_while_it_is_current(void **state)
{
	struct saved_action saved = { 0 };
	const struct sigaction first = { .sa_handler = first_handler };
	const struct sigaction second = { .sa_handler = second_handler };
	struct sigaction read;

	(void)state;
	saved_action_write(&saved, &first);
	const u32 number = saved_action_read(&saved, &read);

	saved_action_write(&saved, &second);
	assert_false(saved_action_is_current(&saved, number));
	assert_false(saved_action_replace(&saved, number, &first));
	const u32 now = saved_action_read(&saved, &read);

	assert_true(read.sa_handler == second_handler);
	assert_true(saved_action_replace(&saved, now, &first));
	saved_action_read(&saved, &read);
	assert_true(read.sa_handler == first_handler);
}

static void an_action_for_once_is_the_default_from_then_on(void **state)
{
	struct saved_action saved = { 0 };
	const struct sigaction once = { .sa_handler = first_handler,
					.sa_flags = (int)SA_RESETHAND };
	const struct sigaction always = { .sa_handler = second_handler };
	struct sigaction taken;

	(void)state;
	saved_action_write(&saved, &once);
	saved_action_take(&saved, &taken);
	assert_true(taken.sa_handler == first_handler);
	saved_action_take(&saved, &taken);
	assert_true(taken.sa_handler == SIG_DFL);
	assert_false(saved_action_is_handler(&taken));
	saved_action_write(&saved, &always);
	for (int i = 0; i < 2; i++) {
		saved_action_take(&saved, &taken);
		assert_true(taken.sa_handler == second_handler);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mask_comes_back_as_the_program_set_it),
		cmocka_unit_test(the_latest_action_is_read),
		cmocka_unit_test(an_action_is_replaced_only_while_it_is_current),
		cmocka_unit_test(an_action_for_once_is_the_default_from_then_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
