/*
 * jumps - ends the calls that longjmp(), its variants, and exceptions leave.
 *
 * Without this they would end at the next event further out on the stack.  But an instrumented
 * function's level is the stack pointer at its hook, so neither it nor a function called in the
 * same place later need be further out than the call that was left.
 *
 * When an exception passes, compilers other than clang call an instrumented function's exit hook.
 * No event reports exceptions, and interposing unwinders is not safe: several libraries of a
 * process may have their own.  But all unwinders ask the dynamic linker for unwind tables, as
 * backtrace() does, too: so this is only a sign that calls may have been left (native/callers.c).
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
 * How many calls are compared with their callers after an unwinder has run: more than one, as
 * calls from uninstrumented code, and of inlined functions, say nothing.
 */
#define LOOKS 64U

int _dl_find_object(void *address, struct dl_find_object *out_found);

AGENT_EXPORT int _dl_find_object(void *address, struct dl_find_object *out_found)
{
	struct call_stack *calls = trace_own;

	if (calls != NULL)
		calls->unwound = LOOKS;
	/* glibc has it from 2.35 on; before, LLVM's libunwind finds ours by dlsym(). */
	return hook_next(&trace_hooks, HOOK__dl_find_object) != NULL
		       ? HOOK_NEXT(_dl_find_object)(address, out_found)
		       : -1;
}
