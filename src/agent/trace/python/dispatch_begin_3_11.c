/*
 * Sets dispatch hooks up in CPython 3.11 as soon as it executes anything: an audit hook, which then
 * removes itself, reports that (audit.h).
 */
#include <stddef.h>

#include "agent/trace/area.h"
#include "agent/trace/python/audit.h"
#include "agent/trace/python/dispatch.h"
#include "agent/trace/python/eval_frame.h"
#include "agent/trace/python/profile_function.h"
#include "agent/trace/python/api.h"

static struct {
	struct trace_audit audit;
	u32 is_decided;
} begun;

static void decide(void)
{
	const bool is_on = trace_dispatch_set_up();

	if (is_on)
		trace_set_status(TRACE_ON);
	else
		trace_python_fall_back();
	trace_set_means(is_on ? TRACE_MEANS_TABLE : TRACE_MEANS_PROFILE);
	trace_audit_remove(&begun.audit);
}

static int on_audit(const char *event, void *arguments, void *data)
{
	(void)event;
	(void)arguments;
	(void)data;
	if (__atomic_load_n(&begun.is_decided, __ATOMIC_RELAXED) == 0 &&
	    trace_area_of_process() != NULL && python_api.Py_IsInitialized() != 0 &&
	    python_api.get_state() != NULL &&
	    __atomic_exchange_n(&begun.is_decided, 1, __ATOMIC_RELAXED) == 0)
		decide();
	return 0;
}

bool trace_dispatch_begin_3_11(const struct python_layout *layout)
{
	trace_dispatch_begin(layout);
	if (trace_dispatch_is_on())
		return true;
	__atomic_store_n(&begun.is_decided, 0, __ATOMIC_RELAXED);
	return python_api.is_whole && trace_eval_frame_find() &&
	       trace_audit_add(on_audit, &begun, &begun.audit);
}
