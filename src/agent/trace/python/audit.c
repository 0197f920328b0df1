#include "agent/trace/python/audit.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "agent/trace/map.h"
#include "agent/trace/python/api.h"

/* The interpreter's global state (_PyRuntime), as words; returns their count. */
static size_t find_runtime(u64 **out_words)
{
	void *runtime = trace_symbol("_PyRuntime");
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (runtime == NULL || dladdr1(runtime, &info, (void **)&symbol, RTLD_DL_SYMENT) == 0 ||
	    symbol == NULL)
		return 0;
	*out_words = runtime;
	return symbol->st_size / sizeof(u64);
}

/* Finds the word that was 0 and now points to our _Py_AuditHookEntry { next, hook, data }. */
static void find_entry(u64 *words, const u64 *before, size_t count, trace_audit_hook *hook,
		       struct trace_audit *out_audit)
{
	for (size_t i = 0; i < count; i++) {
		if (before[i] == 0 && words[i] > 65536 && words[i] % sizeof(u64) == 0 &&
		    ((u64 *)words[i])[1] == (u64)hook)
			*out_audit = (struct trace_audit){ &words[i], words[i], true };
	}
}

bool trace_audit_add(trace_audit_hook *hook, void *data, struct trace_audit *out_audit)
{
	u64 *words = NULL;
	const size_t count = find_runtime(&words);
	const size_t bytes = count * sizeof(u64);

	*out_audit = (struct trace_audit){ 0 };
	if (python_api.PySys_AddAuditHook == NULL)
		return false;
	u64 *before = count > 0 ? trace_map(bytes) : NULL;

	if (before != NULL)
		memcpy(before, words, bytes);
	/* No other thread runs, so only this call changes these words. */
	const bool is_added = python_api.PySys_AddAuditHook(hook, data) == 0;

	if (before != NULL) {
		find_entry(words, before, count, hook, out_audit);
		trace_unmap(before, bytes);
	}
	return is_added;
}

void trace_audit_remove(struct trace_audit *audit)
{
	if (!audit->is_linked || *audit->list != audit->entry)
		return;
	__atomic_store_n(audit->list, *(const u64 *)audit->entry, __ATOMIC_RELEASE);
	audit->is_linked = false;
}

void trace_audit_put_back(struct trace_audit *audit)
{
	if (audit->list == NULL || audit->is_linked)
		return;
	*(u64 *)audit->entry = *audit->list;
	__atomic_store_n(audit->list, audit->entry, __ATOMIC_RELEASE);
	audit->is_linked = true;
}
