#include "agent/core/memory.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "agent/core/permits.h"
#include "agent/core/arch.h"
#include "agent/core/mechanism.h"
#include "agent/core/program_start.h"
#include "agent/core/thread_notes.h"

/* The default limit of a stack; deeper stacks are copied as they are read. */
#define OWN_STACK_MAX (8ULL << 20)

/* The kernel's signal frame with all registers (AMX: 11 KiB), and our handler's frames. */
#define SIGNAL_FRAME_MAX (32ULL << 10)

static u64 page_of(u64 addr)
{
	return addr & ~(MEMORY_PAGE - 1);
}

/*
 * rt_sigprocmask with an impossible `how` answers EFAULT for memory that cannot be read and
 * EINVAL for memory that can, and leaves everything as it is (kernel/signal.c).
 */
bool memory_probe(u64 addr)
{
	const long kernel_sigset_bytes = 8;
	const long no_such_how = -1;

	return arch_syscall4(SYS_rt_sigprocmask, no_such_how, (long)page_of(addr), 0,
			     kernel_sigset_bytes) == -EINVAL;
}

/* The first page of [low, high) that cannot be read, or high. */
static u64 memory_find_hole(u64 low, u64 high)
{
	u64 page = page_of(low);

	while (page < high && memory_probe(page))
		page += MEMORY_PAGE;
	return page < high ? page : high;
}

bool memory_probe_all(u64 addr, u64 bytes)
{
	return addr <= ~0ULL - bytes && memory_find_hole(addr, addr + bytes) == addr + bytes;
}

/*
 * The end of the calling thread's own stack if sp can lie on it, or 0.  glibc puts a thread's
 * control block at the end of its stack; not the main thread's, whose stack the kernel made.
 */
static u64 memory_own_stack_top(u64 sp)
{
	const u64 thread = arch_thread_pointer();

	if (thread == program_start.thread_pointer)
		return sp < program_start.stack_top &&
				       program_start.stack_top - sp <= program_start.stack_bytes
			       ? program_start.stack_top
			       : 0;
	return sp < thread && thread - sp <= OWN_STACK_MAX ? thread : 0;
}

/*
 * Whether all between sp and the end of the stack is the thread's own stack.  It stays mapped
 * as long as the thread lives, so what was proven once holds; and there is never a hole in it,
 * so what lies below a hole never belongs to it.
 */
static bool memory_is_own_stack(u64 sp, u64 top)
{
	const u64 proven =
		thread_notes.own_stack_low != 0 ? thread_notes.own_stack_low : page_of(top);

	if (top == program_start.stack_top || sp >= proven)
		return true;
	if (sp < thread_notes.own_stack_floor || !permits.may_call)
		return false;
	const u64 hole = memory_find_hole(sp, proven);

	if (hole < proven) {
		thread_notes.own_stack_floor = hole + MEMORY_PAGE;
		return false;
	}
	thread_notes.own_stack_low = page_of(sp);
	return true;
}

bool memory_has_room(u64 sp, u32 bytes)
{
	const u64 low = page_of(sp - bytes);
	const u64 top = memory_own_stack_top(sp);

	if (low == page_of(sp) || !permits.may_call)
		return true;
	const bool is_own = top != 0 && memory_is_own_stack(sp, top);

	if (is_own && thread_notes.own_stack_low != 0 && low >= thread_notes.own_stack_low)
		return true;
	/* The probe makes the main thread's stack grow, as our running there would. */
	if (!memory_probe(low))
		return false;
	if (is_own)
		thread_notes.own_stack_low = low;
	return true;
}

bool memory_has_own_room(u64 here, u32 bytes)
{
	const u64 top = memory_own_stack_top(here);

	if (top == 0 || !memory_is_own_stack(here, top))
		return false;
	if (!permits.may_call)
		return thread_notes.own_stack_low != 0 &&
		       page_of(here - bytes) >= thread_notes.own_stack_low;
	return memory_has_room(here, bytes);
}

void memory_allow_loads(struct mem *mem, const ucontext_t *context)
{
	mem->loads = MEMORY_LOADS_TO_ASK;
	mem->context = context;
}

/*
 * Whether the rest of sp's page can be read: a stack stays mapped while a thread runs on it.  It
 * is probed all the same where system calls are allowed, since hand-written code may point sp
 * elsewhere for a moment.  Not where sp is at a page's beginning: the stack may end there.
 */
static bool memory_is_stack_at(u64 sp)
{
	return sp % MEMORY_PAGE != 0 && (!permits.may_call || memory_probe(sp));
}

void memory_begin(struct mem *mem, struct memory_copies *copies, u64 sp, u64 here)
{
	const u64 top = memory_own_stack_top(sp);
	const u64 low = sp - ARCH_RED_ZONE;
	/* Then the kernel has put our signal's frame right below it. */
	const bool is_our_stack = here < low && low - here < SIGNAL_FRAME_MAX;

	*mem = (struct mem){
		.stack_low = is_our_stack ? low : sp,
		.stack_high = is_our_stack ? page_of(low - 1) + MEMORY_PAGE : sp,
		.copies = copies,
		.copies_left = MEMORY_MAX_COPIES,
		.faults_left = MEMORY_MAX_FAULTS,
	};
	mem->is_own_stack = top != 0 && memory_is_own_stack(sp, top);
	if (mem->is_own_stack)
		mem->stack_high = top;
	else if (here == 0 && memory_is_stack_at(sp))
		mem->stack_high = page_of(sp) + MEMORY_PAGE;
}

void memory_begin_own(struct mem *mem, struct memory_copies *copies)
{
	*mem = (struct mem){
		.copies = copies,
		.copies_left = MEMORY_MAX_COPIES,
		.faults_left = MEMORY_MAX_FAULTS,
		.loads = MEMORY_LOADS,
	};
}

/*
 * Used where process_vm_readv() is refused: another thread could unmap the page between the
 * probe and the copy, and nothing helps against that.
 */
static bool memory_copy_after_probe(u64 *to, u64 page)
{
	const volatile u64 *from = (const volatile u64 *)page;

	if (!memory_probe(page))
		return false;
	for (u32 i = 0; i < MEMORY_PAGE / sizeof *to; i++)
		to[i] = from[i];
	return true;
}

static bool memory_copy(u64 *to, u64 page)
{
	struct iovec into = { .iov_base = to, .iov_len = MEMORY_PAGE };
	struct iovec from = { .iov_base = (void *)page, .iov_len = MEMORY_PAGE };

	if (!__atomic_load_n(&permits.may_copy, __ATOMIC_RELAXED))
		return memory_copy_after_probe(to, page);
	/* The calling thread's id: the first thread, whose id is the process's, may have ended. */
	const long rc = arch_syscall6(SYS_process_vm_readv, thread_notes.tid, (long)&into, 1,
				      (long)&from, 1, 0);

	if (rc == -EPERM || rc == -ENOSYS) {
		__atomic_store_n(&permits.may_copy, false, __ATOMIC_RELAXED);
		return memory_copy_after_probe(to, page);
	}
	return rc == (long)MEMORY_PAGE;
}

/* The copy of a page, or NULL. */
static const u8 *memory_find_copy(struct mem *mem, u64 page)
{
	for (u32 i = 0; i < MEMORY_COPIES; i++) {
		if (mem->copied[i] == page)
			return (const u8 *)mem->copies->words[i];
	}
	if (!permits.may_call) {
		mem->was_forbidden = true;
		return NULL;
	}
	if (mem->copies_left == 0)
		return NULL;
	const u32 slot = mem->next_copy;

	mem->copies_left--;
	mem->copied[slot] = 0;
	if (!memory_copy(mem->copies->words[slot], page))
		return NULL;
	mem->copied[slot] = page;
	mem->next_copy = (slot + 1) % MEMORY_COPIES;
	return (const u8 *)mem->copies->words[slot];
}

static int memory_read_copied(struct mem *mem, void *dst, u32 len, u64 addr)
{
	u8 *to = dst;
	u64 page = 0;
	const u8 *copy = NULL;

	if (addr < MEMORY_PAGE || addr + len < addr)
		return -1;
	for (u32 i = 0; i < len; i++) {
		if (copy == NULL || page_of(addr + i) != page) {
			page = page_of(addr + i);
			copy = memory_find_copy(mem, page);
			if (copy == NULL)
				return -1;
		}
		to[i] = copy[(addr + i) & (MEMORY_PAGE - 1)];
	}
	return 0;
}

static bool memory_may_load(struct mem *mem)
{
	if (mem->loads == MEMORY_LOADS_TO_ASK)
		mem->loads = MECHANISMS_ASK(may_load, (mem, (u64)__builtin_frame_address(0)))
				     ? MEMORY_LOADS
				     : MEMORY_NO_LOADS;
	return mem->loads == MEMORY_LOADS;
}

int memory_read_unbounded(struct mem *mem, void *dst, u32 len, u64 addr)
{
	if (addr < MEMORY_PAGE || addr + len < addr)
		return -1;
	const bool has_failed = mem->loads == MEMORY_LOADS;

	if (!has_failed && !memory_may_load(mem))
		return memory_read_copied(mem, dst, len, addr);
	if (!has_failed && fault_load(dst, addr, len))
		return 0;
	if (mem->faults_left == 0)
		mem->loads = MEMORY_NO_LOADS;
	else
		mem->faults_left--;
	return -1;
}

const char *memory_read_text(struct mem *mem, u64 addr)
{
	char *text = mem->copies->text;
	u32 len = 0;

	while (len < sizeof mem->copies->text - 1 &&
	       mem_read(mem, &text[len], 1, addr + len) == 0 && text[len] != '\0')
		len++;
	text[len] = '\0';
	return text;
}
