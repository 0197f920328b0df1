/* Which threads wait for Ruby's GVL: in a made-up memory, with the queue of Ruby 3.4. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h expects those before it. */
#include <cmocka.h>

#include "pages.h"
#include "remote/process.h"
#include "remote/ruby.h"
#include "remote/ruby_internal.h"

#define VERSION   0x030400U
#define THREADS   3U
#define EC_THREAD 48U
/* In an rb_thread_t: the ractor, what its native thread is in, and the node of the queue. */
#define RACTOR 24U
#define NATIVE 40U
#define NODE   72U
/* In the ractor. */
#define OWNER 328U
#define QUEUE 344U
/* A thread's condition is in what its word points to. */
#define CONDITION 100U

static uint64_t page_at(uint64_t number)
{
	return PAGES_BEGIN + number * MEMORY_PAGE;
}

static uint64_t context_of(unsigned int thread)
{
	return page_at(3ULL * thread);
}

static uint64_t thread_at(unsigned int thread)
{
	return page_at(3ULL * thread + 1);
}

static uint64_t futex_of(unsigned int thread)
{
	return page_at(3ULL * thread + 2) + CONDITION;
}

static uint64_t ractor(void)
{
	return page_at(3ULL * THREADS);
}

struct made {
	struct pages *pages;
	struct remote remote;
	struct remote_ruby ruby;
	struct ruby_context contexts[THREADS];
};

/* These threads are in the queue, in this order. */
static void queue(struct made *made, const unsigned int *threads, size_t count)
{
	uint64_t last = ractor() + QUEUE;

	for (size_t i = 0; i < count; i++) {
		pages_put_word(made->pages, last, thread_at(threads[i]) + NODE);
		last = thread_at(threads[i]) + NODE;
	}
	pages_put_word(made->pages, last, ractor() + QUEUE);
}

/* No thread is in the queue, and the first has the GVL. */
static void make(struct made *made)
{
	*made = (struct made){ 0 };
	made->pages = pages_new(&made->remote.mem);
	for (unsigned int i = 0; i < THREADS; i++) {
		pages_put_word(made->pages, context_of(i) + EC_THREAD, thread_at(i));
		pages_put_word(made->pages, thread_at(i) + RACTOR, ractor());
		pages_put_word(made->pages, thread_at(i) + NATIVE, page_at(3ULL * i + 2));
		/* A node that is in no queue points to itself. */
		pages_put_word(made->pages, thread_at(i) + NODE, thread_at(i) + NODE);
		made->contexts[i] = (struct ruby_context){ .context = context_of(i),
							   .thread = thread_at(i),
							   .tid = (pid_t)(100 + i) };
	}
	pages_put_word(made->pages, ractor() + OWNER, thread_at(0));
	queue(made, NULL, 0);
	made->ruby.layout.version = VERSION;
	made->ruby.layout.context_means = RUBY_CONTEXT_BY_TLS;
	made->ruby.layout.offsets.ec_thread = EC_THREAD;
	made->ruby.contexts = made->contexts;
	made->ruby.count = THREADS;
	made->remote.ruby = &made->ruby;
}

static void end(struct made *made)
{
	memory_done(&made->remote.mem);
	free(made->pages);
}

static bool waits(struct made *made, unsigned int thread, uint64_t futex)
{
	return remote_ruby_waits_for_gvl(&made->remote, context_of(thread), futex);
}

static void those_in_the_queue_wait(void **state)
{
	struct made made;

	(void)state;
	make(&made);
	queue(&made, (const unsigned int[]){ 2, 1 }, 2);
	assert_true(waits(&made, 1, futex_of(1)));
	assert_true(waits(&made, 2, futex_of(2)));
	queue(&made, (const unsigned int[]){ 2 }, 1);
	assert_false(waits(&made, 1, futex_of(1)));
	assert_true(waits(&made, 2, futex_of(2)));
	assert_int_equal(remote_ruby_gvl_holder(&made.remote, context_of(2)), 100);
	end(&made);
}

static void one_that_was_given_it_and_has_not_woken_up_does(void **state)
{
	struct made made;

	(void)state;
	make(&made);
	pages_put_word(made.pages, ractor() + OWNER, thread_at(1));
	assert_true(waits(&made, 1, futex_of(1)));
	/* With the GVL it may wait for something else, */
	assert_false(waits(&made, 1, page_at(3ULL * THREADS + 1)));
	/* and without it in its condition, for a Mutex. */
	assert_false(waits(&made, 2, futex_of(2)));
	end(&made);
}

static void the_queue_is_read_as_it_is_now(void **state)
{
	struct made made;
	uint64_t word;

	(void)state;
	make(&made);
	/* The stack of thread 2 was read while thread 1 was in no queue. */
	assert_int_equal(mem_read(&made.remote.mem, &word, sizeof word, thread_at(1) + NODE),
			 0);
	queue(&made, (const unsigned int[]){ 1, 2 }, 2);
	assert_true(waits(&made, 2, futex_of(2)));
	end(&made);
}

static void a_queue_without_an_end_is_left(void **state)
{
	struct made made;

	(void)state;
	make(&made);
	pages_put_word(made.pages, ractor() + QUEUE, thread_at(1) + NODE);
	made.pages->fetches = 0;
	assert_false(waits(&made, 2, futex_of(2)));
	assert_in_range(made.pages->fetches, 1, 3 * THREADS + 1);
	/* Neither does one whose nodes are nowhere. */
	pages_put_word(made.pages, ractor() + QUEUE, 8);
	assert_false(waits(&made, 2, futex_of(2)));
	pages_put_word(made.pages, ractor() + QUEUE, NOWHERE);
	assert_false(waits(&made, 2, futex_of(2)));
	end(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_in_the_queue_wait),
		cmocka_unit_test(one_that_was_given_it_and_has_not_woken_up_does),
		cmocka_unit_test(the_queue_is_read_as_it_is_now),
		cmocka_unit_test(a_queue_without_an_end_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
