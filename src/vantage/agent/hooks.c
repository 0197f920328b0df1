#include "vantage/agent/hooks.h"

#include <dlfcn.h>
#include <stddef.h>

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

static hook_function found[HOOK_COUNT];

hook_function hook_next(enum hook hook)
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

void hooks_find(void)
{
	for (unsigned int i = 0; i < HOOK_COUNT; i++) {
		if (hooks[i].kind == PASSES_ON)
			hook_next((enum hook)i);
	}
}
