/*
 * audit - an audit hook (PEP 578) that can be removed when its work is done.
 *
 * It may be added before the interpreter starts, and is called as soon as anything is executed.  It
 * must be removed before the interpreter ends, which frees it by the allocator of that time: with
 * -X dev that is not the one that allocated it, and CPython aborts.  CPython cannot remove a hook,
 * so the head of its list is found by comparing the interpreter's memory before and after adding
 * ours.  Where that fails, the hook stays.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

typedef int trace_audit_hook(const char *event, void *arguments, void *data);

struct trace_audit {
	u64 *list; /* the head of the interpreter's list of hooks; NULL: not found */
	u64 entry; /* ours */
	bool is_linked;
};

/* Only while there are no other threads.  False: the interpreter refused the hook. */
bool trace_audit_add(trace_audit_hook *hook, void *data, struct trace_audit *out_audit);
/* With the GIL, also in the hook.  Does nothing without the list, or if a hook was added. */
void trace_audit_remove(struct trace_audit *audit);
/* Adds a removed hook again. */
void trace_audit_put_back(struct trace_audit *audit);
