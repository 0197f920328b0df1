#include "agent/trace/python/begin.h"

#include <stddef.h>

#include "abi/python_layout.h"
#include "agent/trace/area.h"
#include "agent/trace/python/dispatch.h"
#include "agent/trace/python/monitoring.h"
#include "agent/trace/python/objects.h"
#include "agent/trace/python/profile_function.h"
#include "agent/trace/python/profilers.h"
#include "agent/trace/python/api.h"

#define PYTHON_3_6  0x03060000U
#define PYTHON_3_10 0x030a0000U
#define PYTHON_3_12 0x030c0000U

/* 3.11 uses a profile function only where dispatch hooks are not possible. */
static void begin_with_function(const struct python_layout *layout)
{
	const u32 place = trace_profile_begin(layout);

	trace_python_find_objects(layout);
	trace_profilers_begin(place, NULL);
	if (layout->chain == PYTHON_CHAIN_ENTRY_FLAG && trace_dispatch_begin_3_11(layout))
		trace_profile_put_off();
	else if (place != 0 && layout->version >= PYTHON_3_10)
		trace_set_means(TRACE_MEANS_PROFILE);
	/* Programs that create subinterpreters by the C API, as servers do, cause no event. */
	if (trace_symbol_is_wanted("Py_NewInterpreter"))
		trace_python_meet_interpreters();
}

void trace_python_begin(const struct python_layout *found)
{
	trace_set_layout(found);
	trace_api_find();
	const struct python_layout *layout = trace_layout();

	if (layout->version < PYTHON_3_6)
		trace_set_status(TRACE_UNKNOWN_VERSION);
	else if (layout->version < PYTHON_3_12)
		begin_with_function(layout);
	else
		trace_monitoring_begin(layout);
}
