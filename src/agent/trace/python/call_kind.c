#include "agent/trace/python/call_kind.h"

#include "abi/python_layout.h"
#include "agent/trace/area.h"
#include "agent/trace/calls.h"
#include "agent/trace/python/dispatch.h"

/* CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR (Include/cpython/code.h). */
#define CODE_RESUMES 0x2a0U

static bool is_resumed(u64 code)
{
	const struct python_layout *layout = trace_layout();

	return layout != NULL && layout->offsets.code_flags != PYTHON_NO_FIELD &&
	       (*(const u32 *)(code + layout->offsets.code_flags) & CODE_RESUMES) != 0;
}

/* Without dispatch hooks, calls by instructions are reported by separate events. */
static bool is_called(u64 frame)
{
	return !trace_dispatch_is_on() || trace_dispatch_is_called(frame);
}

enum trace_kind trace_call_kind_of(const struct trace_call *call,
				   const struct trace_entry *caller)
{
	if (is_resumed(call->object))
		return TRACE_KIND_PYTHON_RESUMED;
	return caller->kind == TRACE_KIND_PYTHON_BUILTIN ||
			       (call->frame != 0 && !is_called(call->frame))
		       ? TRACE_KIND_PYTHON_UNCALLED
		       : TRACE_KIND_PYTHON;
}
