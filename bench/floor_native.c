/*
 * floor_native - the least that a compiler's hooks can cost: they read the clock.
 *
 * To be preloaded.  mcount and __fentry__ report entries only: the clock is read there
 * twice, for what needs the return.
 */
#include <x86intrin.h>

static unsigned long long last;

__attribute__((visibility("default"))) void __cyg_profile_func_enter(void *function,
								     void *caller)
{
	(void)function, (void)caller;
	last = __rdtsc();
}

__attribute__((visibility("default"))) void __cyg_profile_func_exit(void *function,
								    void *caller)
{
	(void)function, (void)caller;
	last = __rdtsc();
}

/* Arguments are still in their registers. */
__asm__(".globl mcount, __fentry__\n"
	".type mcount, @function\n"
	".type __fentry__, @function\n"
	"mcount:\n"
	"__fentry__:\n"
	"	push %rax\n"
	"	push %rdx\n"
	"	rdtsc\n"
	"	rdtsc\n"
	"	pop %rdx\n"
	"	pop %rax\n"
	"	ret\n");
