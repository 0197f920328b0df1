/*
 * native_begin - decides when the hooks in compiled code count, and finds what they interpose.
 *
 * A program may define hooks itself: ours call its two hooks of instrumented functions; calls
 * reported by its own mcount() or __fentry__() are not traced.
 */
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

#include "agent/core/agent_state.h"
#include "agent/trace/interposed.h"
#include "agent/core/images.h"
#include "agent/trace/native/native.h"
#include "agent/trace/native/returns.h"

/* Stays set in children of fork. */
static bool are_stacks_copied;

static u64 image_of(hook_function function)
{
	void *address;
	Dl_info info;

	/* POSIX has addresses of functions as object pointers; ISO C does not. */
	*(hook_function *)&address = function;
	/* dladdr() would search all of libc's symbols: 40 us at each program start. */
	const struct link_map *image = images_at(address);

	if (image != NULL)
		return (u64)image->l_addr;
	return dladdr(address, &info) != 0 ? (u64)info.dli_fbase : 0;
}

/* Whether the next definition is not the C library's. */
AGENT_START static bool is_of_program(enum trace_hook hook)
{
	const hook_function next = hook_next(&trace_hooks, hook);

	return next != NULL && image_of(next) != image_of(hook_next(&trace_hooks, HOOK_isatty));
}

AGENT_START void trace_native_find_next(void)
{
	if (is_of_program(HOOK___cyg_profile_func_enter))
		trace_native.next_enter = (void (*)(void *, void *))hook_next(
			&trace_hooks, HOOK___cyg_profile_func_enter);
	if (is_of_program(HOOK___cyg_profile_func_exit))
		trace_native.next_exit = (void (*)(void *, void *))hook_next(
			&trace_hooks, HOOK___cyg_profile_func_exit);
#if defined(__x86_64__)
	trace_native.next_mcount = hook_next(&trace_hooks, HOOK_mcount);
	trace_native.next__mcount = hook_next(&trace_hooks, HOOK__mcount);
	trace_native.next_fentry = hook_next(&trace_hooks, HOOK___fentry__);
#endif
}

void trace_native_begin(void)
{
#if defined(__x86_64__)
	trace_native.sees_ends = !are_stacks_copied && trace_returns_are_possible();
	trace_native.on_mcount = !is_of_program(HOOK_mcount);
	trace_native.on__mcount = !is_of_program(HOOK__mcount);
	trace_native.on_fentry = !is_of_program(HOOK___fentry__);
#endif
	__atomic_store_n(&trace_native.is_on, 1, __ATOMIC_RELEASE);
}

/*
 * A stack that was copied away and comes back finds its return addresses in the shadow: as none
 * are replaced any more, no event overwrites it.
 */
void trace_native_see_no_ends(void)
{
	are_stacks_copied = true;
	__atomic_store_n(&trace_native.sees_ends, 0, __ATOMIC_RELAXED);
}

void trace_native_end(void)
{
	trace_native.on_mcount = trace_native.on__mcount = trace_native.on_fentry = 0;
	__atomic_store_n(&trace_native.is_on, 0, __ATOMIC_RELEASE);
}
