/*
 * audit - an audit hook (PEP 578) that is there while there is work for it.
 *
 * It may be added before the interpreter has begun, and is called as soon as there is something to
 * execute.  It has to go before the interpreter ends, which frees it by the allocator of then: with
 * -X dev that is not the one it was made by, and CPython aborts.  The interpreter has no call that
 * takes it away: its list is found by what adding ours changed in the interpreter's memory.  Where
 * that is not to be seen the hook stays.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

typedef int trace_audit_hook(const char *event, void *arguments, void *data);

struct trace_audit {
	u64 *list; /* the first of the interpreter's hooks; NULL: it was not to be seen */
	u64 entry; /* ours */
	bool is_linked;
};

/* Before there are other threads.  False: the interpreter takes no hook. */
bool trace_audit_add(trace_audit_hook *hook, void *data, struct trace_audit *out_audit);
/*
 * With the GIL, within the hook too.  Nothing where it is not known how, or others came later.
 */
void trace_audit_remove(struct trace_audit *audit);
/* One that was removed is called again. */
void trace_audit_put_back(struct trace_audit *audit);
