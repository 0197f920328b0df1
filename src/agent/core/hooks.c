#include "agent/core/hooks.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>

#include "agent/core/agent_state.h"
#include "agent/core/arch.h"

AGENT_START hook_function hook_next(const struct hooks *hooks, u32 number)
{
	hook_function next = __atomic_load_n(&hooks->next[number], __ATOMIC_RELAXED);

	/* Called before our constructor ran, from another library's constructor. */
	if (next == NULL) {
		/* POSIX has dlsym() give functions as object pointers; ISO C does not. */
		*(void **)&next = dlsym(RTLD_NEXT, hooks->names[number]);
		__atomic_store_n(&hooks->next[number], next, __ATOMIC_RELAXED);
	}
	return next;
}

AGENT_START void hooks_find(const struct hooks *hooks)
{
	for (u32 i = 0; i < hooks->count; i++) {
		if (hooks->names[i] != NULL)
			hook_next(hooks, i);
	}
}

/* Whether another image than the agent defines the function. */
static bool is_of_another_image(const void *function)
{
	static const char here;
	Dl_info theirs, ours;

	return dladdr(function, &theirs) != 0 && dladdr(&here, &ours) != 0 &&
	       theirs.dli_fbase != ours.dli_fbase;
}

void hooks_find_global(const struct hooks *hooks)
{
	for (u32 i = 0; i < hooks->count; i++) {
		hook_function found;

		if (hooks->names[i] == NULL)
			continue;
		*(void **)&found = dlsym(RTLD_DEFAULT, hooks->names[i]);
		if (found != NULL && is_of_another_image(*(void **)&found))
			__atomic_store_n(&hooks->next[i], found, __ATOMIC_RELAXED);
	}
}

/*
 * Hidden, as text.c's functions are: calls libc's clock_gettime(), not that of a sanitizer in
 * the program, which is not ready in our constructor.  Libc's takes no system call (vDSO):
 * handlers call it often.
 */
static __typeof__(clock_gettime) *libc_clock_gettime AGENT_STATE;

__attribute__((visibility("hidden"))) int clock_gettime(clockid_t clock, struct timespec *out)
{
	if (libc_clock_gettime != NULL)
		return libc_clock_gettime(clock, out);
	return (int)arch_syscall4(SYS_clock_gettime, clock, (long)out, 0, 0);
}

static __typeof__(dl_iterate_phdr) *libc_dl_iterate_phdr AGENT_STATE;

/* As above: ThreadSanitizer's in the program calls a function that it has not found yet. */
__attribute__((visibility("hidden"))) int
dl_iterate_phdr(int (*look)(struct dl_phdr_info *image, size_t size, void *context),
		void *context)
{
	return libc_dl_iterate_phdr != NULL ? libc_dl_iterate_phdr(look, context) : 0;
}

AGENT_START void hooks_begin(void)
{
	*(void **)&libc_dl_iterate_phdr = dlsym(RTLD_NEXT, "dl_iterate_phdr");
	*(void **)&libc_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
}
