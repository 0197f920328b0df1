/*
 * What the agent reads and how, on pages that the test says can be read or not: nothing that is
 * not known to stay mapped is ever loaded.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "agent/core/own_ring.h"
#include "agent/core/own_process.h"
#include "agent/core/permits.h"
#include "agent/core/program_start.h"
#include "agent/core/mechanism.h"
#include "agent/core/memory.h"
#include "agent/core/thread_notes.h"
#include "agent/core/arch.h"

struct own_ring own_ring;
struct own_process own_process;
struct permits permits;
struct program_start program_start;
__thread struct thread_notes thread_notes;

#define PAGES 16

/* Pages that are there, none of which can be loaded: a load would kill the test. */
static struct {
	u8 *low;
	bool is_readable[PAGES];
	bool is_refused; /* process_vm_readv() is */
	u64 thread_pointer;
	u32 copies, probes;
} machine;

/* What lies at an address: never 0, which would end a string. */
static u8 byte_at(u64 at)
{
	return (u8)(at / 3 | 1);
}

static u8 *page(u32 index)
{
	return machine.low + index * MEMORY_PAGE;
}

static u64 address(u32 index, u32 offset)
{
	return (u64)page(index) + offset;
}

static bool is_readable(u64 at)
{
	const u64 index = (at - (u64)machine.low) / MEMORY_PAGE;

	return at >= (u64)machine.low && index < PAGES && machine.is_readable[index];
}

static long made_syscall4(long number, long a, long b, long c, long d)
{
	assert_int_equal(number, SYS_rt_sigprocmask);
	assert_int_equal(a, -1);
	assert_int_equal(c, 0);
	assert_int_equal(d, 8);
	machine.probes++;
	return is_readable((u64)b) ? -EINVAL : -EFAULT;
}

static long made_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	const struct iovec *into = (const struct iovec *)b, *from = (const struct iovec *)d;

	assert_int_equal(number, SYS_process_vm_readv);
	assert_int_equal(a, 4711);
	assert_true(c == 1 && e == 1 && f == 0);
	assert_int_equal(from->iov_len, MEMORY_PAGE);
	assert_int_equal((u64)from->iov_base % MEMORY_PAGE, 0);
	machine.copies++;
	if (machine.is_refused)
		return -EPERM;
	if (!is_readable((u64)from->iov_base))
		return -EFAULT;
	for (u64 i = 0; i < MEMORY_PAGE; i++)
		((u8 *)into->iov_base)[i] = byte_at((u64)from->iov_base + i);
	return (long)MEMORY_PAGE;
}

static u64 made_thread_pointer(void)
{
	return machine.thread_pointer;
}

static bool loads_may_fault(const struct mem *mem, u64 here)
{
	(void)mem;
	(void)here;
	return false;
}

static const struct mechanism signals_of_test = { .may_load = loads_may_fault };
const struct mechanism *const mechanisms[] = { &signals_of_test, NULL };

#define arch_syscall4       made_syscall4
#define arch_syscall6       made_syscall6
#define arch_thread_pointer made_thread_pointer
#include "agent/core/memory.c"

static struct memory_copies copies;

static int begin(void **state)
{
	(void)state;
	if (machine.low != NULL)
		munmap(machine.low, PAGES * MEMORY_PAGE);
	memset(&machine, 0, sizeof machine);
	machine.low =
		mmap(NULL, PAGES * MEMORY_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(machine.is_readable, 1, sizeof machine.is_readable);
	machine.thread_pointer = 16;
	permits = (struct permits){ .may_call = true, .may_copy = true };
	program_start.thread_pointer = 32;
	thread_notes = (struct thread_notes){ .tid = 4711 };
	return 0;
}

static void begin_walk(struct mem *mem, u64 sp)
{
	memory_begin(mem, &copies, sp, sp - 5000);
}

static void assert_reads(struct mem *mem, u64 at, u32 len)
{
	u8 bytes[32];

	assert_int_equal(mem_read(mem, bytes, len, at), 0);
	for (u32 i = 0; i < len; i++)
		assert_int_equal(bytes[i], byte_at(at + i));
}

static void assert_refuses(struct mem *mem, u64 at)
{
	u64 word = 77;

	assert_int_equal(mem_read(mem, &word, sizeof word, at), -1);
}

static void the_page_the_signals_frame_is_in_is_read_as_it_lies(void **state)
{
	struct mem mem;
	u64 word;

	(void)state;
	mprotect(page(3), MEMORY_PAGE, PROT_READ);
	begin_walk(&mem, address(3, 512));
	assert_int_equal(mem_read(&mem, &word, sizeof word, address(3, 512)), 0);
	assert_int_equal(mem_read(&mem, &word, sizeof word, address(3, 4088)), 0);
	assert_int_equal(machine.copies + machine.probes, 0);
}

static void a_stack_pointer_at_the_end_of_its_page_proves_no_other(void **state)
{
	struct mem mem;

	(void)state;
	begin_walk(&mem, address(4, 0) + ARCH_RED_ZONE);
	machine.is_readable[4] = false;
	assert_refuses(&mem, address(4, 0) + ARCH_RED_ZONE);
}

static void where_the_signals_frame_is_elsewhere_the_page_at_sp_is_proven(void **state)
{
	struct mem mem;
	u64 word;

	(void)state;
	mprotect(page(3), MEMORY_PAGE, PROT_READ);
	memory_begin(&mem, &copies, address(3, 512), 0);
	assert_int_equal(mem_read(&mem, &word, sizeof word, address(3, 512)), 0);
	assert_int_equal(mem_read(&mem, &word, sizeof word, address(3, 4088)), 0);
	assert_int_equal(machine.probes, 1);
	assert_int_equal(machine.copies, 0);
	assert_reads(&mem, address(4, 0), 16);
	machine.is_readable[5] = false;
	memory_begin(&mem, &copies, address(5, 512), 0);
	assert_refuses(&mem, address(5, 512));
}

static void where_nothing_may_be_called_a_stack_lasts_to_the_end_of_its_page(void **state)
{
	struct mem mem;
	u64 word;

	(void)state;
	permits.may_call = false;
	mprotect(page(3), MEMORY_PAGE, PROT_READ);
	memory_begin(&mem, &copies, address(3, 512), 0);
	assert_int_equal(mem_read(&mem, &word, sizeof word, address(3, 4088)), 0);
	assert_refuses(&mem, address(4, 0));
	memory_begin(&mem, &copies, address(4, 0), 0);
	assert_refuses(&mem, address(4, 0));
	assert_int_equal(machine.copies + machine.probes, 0);
}

static void where_we_stand_on_another_stack_all_is_copied(void **state)
{
	struct mem mem;

	(void)state;
	memory_begin(&mem, &copies, address(3, 512), address(15, 0));
	assert_reads(&mem, address(3, 512), 16);
	assert_reads(&mem, address(3, 400), 16);
	memory_begin(&mem, &copies, address(12, 512), address(1, 0));
	assert_reads(&mem, address(12, 512), 16);
	assert_int_equal(machine.copies, 2);
}

static void another_stack_is_copied_a_page_at_a_time_and_once(void **state)
{
	struct mem mem;

	(void)state;
	begin_walk(&mem, address(3, 512));
	for (u32 i = 0; i < 100; i++)
		assert_reads(&mem, address(4, 16 * i), 16);
	assert_int_equal(machine.copies, 1);
	assert_reads(&mem, address(6, 4090), 20);
	assert_int_equal(machine.copies, 3);
	assert_reads(&mem, address(4, 8), 8);
	assert_int_equal(machine.copies, 3);
}

static void more_pages_than_there_is_room_for_are_copied_again(void **state)
{
	struct mem mem;

	(void)state;
	begin_walk(&mem, address(3, 512));
	for (u32 round = 0; round < 3; round++) {
		for (u32 i = 4; i < 12; i++)
			assert_reads(&mem, address(i, 8), 8);
	}
	assert_int_equal(machine.copies, 24);
}

static void what_cannot_be_read_is_refused_each_time(void **state)
{
	struct mem mem;

	(void)state;
	machine.is_readable[5] = false;
	begin_walk(&mem, address(3, 512));
	assert_reads(&mem, address(4, 8), 8);
	assert_refuses(&mem, address(5, 8));
	assert_refuses(&mem, address(5, 8));
	assert_refuses(&mem, address(4, 4092));
	assert_refuses(&mem, 0);
	assert_refuses(&mem, UINT64_MAX - 3);
	assert_reads(&mem, address(4, 8), 8);
	assert_false(mem.was_forbidden);
}

static void a_walk_copies_no_more_than_its_share(void **state)
{
	struct mem mem;

	(void)state;
	begin_walk(&mem, address(3, 512));
	for (u32 i = 0; i < MEMORY_MAX_COPIES; i++)
		assert_reads(&mem, address(4 + i % 8, 8), 8);
	assert_refuses(&mem, address(14, 8));
	assert_int_equal(machine.copies, MEMORY_MAX_COPIES);
	assert_true(memory_is_used_up(&mem));
}

static void a_threads_own_stack_is_proven_once(void **state)
{
	struct mem mem;

	(void)state;
	machine.thread_pointer = address(9, 1024);
	begin_walk(&mem, address(6, 512));
	assert_int_equal(mem.stack_high, machine.thread_pointer);
	assert_int_equal(machine.probes, 3);
	begin_walk(&mem, address(6, 64));
	begin_walk(&mem, address(8, 64));
	assert_int_equal(mem.stack_high, machine.thread_pointer);
	assert_int_equal(machine.probes, 3);
	begin_walk(&mem, address(5, 512));
	assert_int_equal(machine.probes, 4);
	/* What was proven holds where no call may be made. */
	permits.may_call = false;
	begin_walk(&mem, address(5, 512));
	assert_int_equal(mem.stack_high, machine.thread_pointer);
}

static void what_lies_below_a_hole_is_never_the_threads_own_stack(void **state)
{
	struct mem mem;

	(void)state;
	machine.thread_pointer = address(9, 1024);
	machine.is_readable[5] = false;
	begin_walk(&mem, address(3, 512));
	assert_int_equal(mem.stack_high, address(4, 0));
	assert_int_equal(machine.probes, 3);
	/* The page comes, and goes again: only a copy will do. */
	machine.is_readable[5] = true;
	begin_walk(&mem, address(3, 512));
	assert_int_equal(mem.stack_high, address(4, 0));
	assert_int_equal(machine.probes, 3);
	begin_walk(&mem, address(7, 512));
	assert_int_equal(mem.stack_high, machine.thread_pointer);
}

static void the_main_threads_stack_does_not_end_at_its_control_block(void **state)
{
	struct mem mem;

	(void)state;
	machine.thread_pointer = program_start.thread_pointer = address(9, 1024);
	program_start.stack_top = address(15, 0);
	program_start.stack_bytes = 4 * MEMORY_PAGE;
	begin_walk(&mem, address(6, 512));
	assert_int_equal(mem.stack_high, address(7, 0));
	begin_walk(&mem, address(12, 512));
	assert_int_equal(mem.stack_high, program_start.stack_top);
	assert_int_equal(machine.probes, 0);
}

static void where_copying_is_refused_pages_are_proven_and_it_is_not_asked_again(void **state)
{
	struct mem mem;
	u64 word;

	(void)state;
	machine.is_refused = true;
	machine.is_readable[5] = false;
	mprotect(page(4), MEMORY_PAGE, PROT_READ | PROT_WRITE);
	memset(page(4), 7, MEMORY_PAGE);
	begin_walk(&mem, address(3, 512));
	assert_int_equal(mem_read(&mem, &word, sizeof word, address(4, 8)), 0);
	assert_int_equal(word, 0x0707070707070707);
	assert_refuses(&mem, address(5, 8));
	assert_int_equal(machine.copies, 1);
	assert_int_equal(machine.probes, 2);
}

static void under_a_filter_nothing_unknown_is_read_and_the_walk_says_so(void **state)
{
	struct mem mem;

	(void)state;
	permits.may_call = false;
	machine.thread_pointer = address(9, 1024);
	begin_walk(&mem, address(3, 512));
	assert_refuses(&mem, address(4, 8));
	assert_true(mem.was_forbidden);
	assert_int_equal(machine.copies + machine.probes, 0);
}

static void a_string_is_copied_as_far_as_it_can_be_read(void **state)
{
	struct mem mem;

	(void)state;
	machine.is_readable[5] = false;
	begin_walk(&mem, address(3, 512));
	assert_int_equal(strlen(memory_read_text(&mem, address(4, 4091))), 5);
	assert_string_equal(memory_read_text(&mem, address(5, 0)), "");
}

#define MEMORY(test) cmocka_unit_test_setup(test, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		MEMORY(the_page_the_signals_frame_is_in_is_read_as_it_lies),
		MEMORY(a_stack_pointer_at_the_end_of_its_page_proves_no_other),
		MEMORY(where_the_signals_frame_is_elsewhere_the_page_at_sp_is_proven),
		MEMORY(where_nothing_may_be_called_a_stack_lasts_to_the_end_of_its_page),
		MEMORY(where_we_stand_on_another_stack_all_is_copied),
		MEMORY(another_stack_is_copied_a_page_at_a_time_and_once),
		MEMORY(more_pages_than_there_is_room_for_are_copied_again),
		MEMORY(what_cannot_be_read_is_refused_each_time),
		MEMORY(a_walk_copies_no_more_than_its_share),
		MEMORY(a_threads_own_stack_is_proven_once),
		MEMORY(what_lies_below_a_hole_is_never_the_threads_own_stack),
		MEMORY(the_main_threads_stack_does_not_end_at_its_control_block),
		MEMORY(where_copying_is_refused_pages_are_proven_and_it_is_not_asked_again),
		MEMORY(under_a_filter_nothing_unknown_is_read_and_the_walk_says_so),
		MEMORY(a_string_is_copied_as_far_as_it_can_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
