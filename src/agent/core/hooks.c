#include "agent/core/hooks.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>

#include "agent/core/agent_state.h"
#include "agent/core/arch.h"

enum hook_kind {
	PASSES_ON,
	ANSWERS,
};

static const struct {
	const char *name;
	enum hook_kind kind;
} hooks[] = {
#define X(name, kind, why) [HOOK_##name] = { #name, kind },
	HOOK_MAP(X)
#undef X
};

static hook_function found[HOOK_COUNT] AGENT_STATE;

AGENT_START hook_function hook_next(enum hook hook)
{
	hook_function next = __atomic_load_n(&found[hook], __ATOMIC_RELAXED);

	/* Called before our constructor ran: from another library's. */
	if (next == NULL) {
		/* POSIX has dlsym() give functions as object pointers; ISO C does not. */
		*(void **)&next = dlsym(RTLD_NEXT, hooks[hook].name);
		__atomic_store_n(&found[hook], next, __ATOMIC_RELAXED);
	}
	return next;
}

/*
 * As text.c has it: not a sanitizer's in the program, which is not ready in our constructor,
 * and not a system call, for handlers ask often.
 */
static __typeof__(clock_gettime) *libc_clock_gettime AGENT_STATE;

__attribute__((visibility("hidden"))) int clock_gettime(clockid_t clock, struct timespec *out)
{
	if (libc_clock_gettime != NULL)
		return libc_clock_gettime(clock, out);
	return (int)arch_syscall4(SYS_clock_gettime, clock, (long)out, 0, 0);
}

static __typeof__(dl_iterate_phdr) *libc_dl_iterate_phdr AGENT_STATE;

/* As clock_gettime(): ThreadSanitizer's in the program calls what it has not found yet. */
__attribute__((visibility("hidden"))) int
dl_iterate_phdr(int (*look)(struct dl_phdr_info *image, size_t size, void *context),
		void *context)
{
	return libc_dl_iterate_phdr != NULL ? libc_dl_iterate_phdr(look, context) : 0;
}

AGENT_START void hooks_find(void)
{
	*(void **)&libc_dl_iterate_phdr = dlsym(RTLD_NEXT, "dl_iterate_phdr");
	*(void **)&libc_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
	for (unsigned int i = 0; i < HOOK_COUNT; i++) {
		if (hooks[i].kind == PASSES_ON)
			hook_next((enum hook)i);
	}
}
