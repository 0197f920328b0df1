/*
 * jumps - longjmp() and its like, and exceptions: the calls that are left by it are over.
 *
 * Without this they would be found to be over at the next call further out; but of an
 * instrumented function, whose level is where it called its hook, and of one that is called in
 * its place, neither need be further out.
 *
 * Where an exception passes, compilers other than clang call the second hook of instrumented
 * functions.  No event reports exceptions, and interposing unwinders is not safe: several
 * libraries of a process may have unwinders of their own.  But all ask the dynamic linker where
 * the tables are, and so does backtrace(): that is only a sign to look (native/native.c).
 */
#include <dlfcn.h>
#include <setjmp.h>

#include "agent/core/agent_state.h"
#include "agent/core/arch.h"
#include "agent/trace/calls.h"
#include "agent/trace/interposed.h"
#include "agent/trace/native/native.h"

#undef longjmp
#undef _longjmp
#undef siglongjmp

__attribute__((noreturn)) void __longjmp_chk(struct __jmp_buf_tag *where, int value);

static void leave_to(const struct __jmp_buf_tag *where)
{
	if (trace_native.is_on)
		trace_native_jump(arch_jump_stack_pointer(where->__jmpbuf));
}

AGENT_START AGENT_EXPORT void longjmp(jmp_buf where, int value)
{
	leave_to(where);
	HOOK_NEXT(longjmp)(where, value);
	__builtin_unreachable();
}

AGENT_START AGENT_EXPORT void _longjmp(jmp_buf where, int value)
{
	leave_to(where);
	HOOK_NEXT(_longjmp)(where, value);
	__builtin_unreachable();
}

AGENT_START AGENT_EXPORT void siglongjmp(sigjmp_buf where, int value)
{
	leave_to(where);
	HOOK_NEXT(siglongjmp)(where, value);
	__builtin_unreachable();
}

/* Where a program is compiled with _FORTIFY_SOURCE. */
AGENT_START AGENT_EXPORT void __longjmp_chk(struct __jmp_buf_tag *where, int value)
{
	leave_to(where);
	HOOK_NEXT(__longjmp_chk)(where, value);
	__builtin_unreachable();
}

/*
 * Calls that are not compared with what has called them: beginnings in code that is not
 * instrumented itself, and in what was inlined.
 */
#define LOOKS 64U

int _dl_find_object(void *address, struct dl_find_object *out_found);

AGENT_EXPORT int _dl_find_object(void *address, struct dl_find_object *out_found)
{
	struct call_stack *calls = trace_own;

	if (calls != NULL)
		calls->unwound = LOOKS;
	/* Before glibc 2.35 there is none, and a look-up by dlsym() (LLVM's libunwind) finds ours. */
	return hook_next(&trace_hooks, HOOK__dl_find_object) != NULL
		       ? HOOK_NEXT(_dl_find_object)(address, out_found)
		       : -1;
}
