/*
 * trace_jumps - longjmp() and its like: the calls that are left by it are over.
 *
 * Without this they would be found to be over at the next call further out; but of an
 * instrumented function, whose level is where it called its hook, and of one that is called in
 * its place, neither need be further out.
 */
#include <setjmp.h>

#include "vantage/agent/arch.h"
#include "vantage/agent/hooks.h"
#include "vantage/agent/trace_native.h"

#undef longjmp
#undef _longjmp
#undef siglongjmp

__attribute__((noreturn)) void __longjmp_chk(struct __jmp_buf_tag *where, int value);

static void leave_to(const struct __jmp_buf_tag *where)
{
	if (trace_native.is_on)
		trace_native_jump(arch_jump_stack_pointer(where->__jmpbuf));
}

AGENT_EXPORT void longjmp(jmp_buf where, int value)
{
	leave_to(where);
	HOOK_NEXT(longjmp)(where, value);
	__builtin_unreachable();
}

AGENT_EXPORT void _longjmp(jmp_buf where, int value)
{
	leave_to(where);
	HOOK_NEXT(_longjmp)(where, value);
	__builtin_unreachable();
}

AGENT_EXPORT void siglongjmp(sigjmp_buf where, int value)
{
	leave_to(where);
	HOOK_NEXT(siglongjmp)(where, value);
	__builtin_unreachable();
}

/* Where a program is compiled with _FORTIFY_SOURCE. */
AGENT_EXPORT void __longjmp_chk(struct __jmp_buf_tag *where, int value)
{
	leave_to(where);
	HOOK_NEXT(__longjmp_chk)(where, value);
	__builtin_unreachable();
}
