/*
 * interpreter_calls - interposes functions of libc that show that an interpreter is starting.
 *
 * CPython stores a thread's new thread state by pthread_setspecific(); CRuby reads RUBYLIB by
 * getenv() once its VM is set up, and a new Ractor calls isatty() for its standard streams.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/python_layout.h"
#include "abi/ring.h"
#include "agent/core/own_ring.h"
#include "agent/core/agent_state.h"
#include "agent/trace/area.h"
#include "agent/trace/dlopened.h"
#include "agent/trace/interposed.h"
#include "agent/trace/python/monitoring.h"
#include "agent/trace/python/profile_function.h"
#include "agent/trace/ruby/ruby.h"

AGENT_START AGENT_EXPORT int pthread_setspecific(pthread_key_t key, const void *value)
{
	const struct ring_header *ring = own_ring.header;

	/* Nothing else to do in a process that is not traced. */
	if (__builtin_expect(ring == NULL || !(own_ring.terms.flags & RING_TRACE), 1))
		return HOOK_NEXT(pthread_setspecific)(key, value);
	const int rc = HOOK_NEXT(pthread_setspecific)(key, value);

	if (rc != 0 || value == NULL)
		return rc;
	trace_dlopened_look(__builtin_return_address(0));
	const struct python_layout *layout = trace_layout();

	if (layout == NULL || trace_own_state() != (u64)value)
		return rc;
	if (layout->chain <= PYTHON_CHAIN_ENTRY_FLAG)
		trace_python_see_state((u64)value);
	else
		trace_monitoring_see_state((u64)value);
	return rc;
}

AGENT_EXPORT int isatty(int fd)
{
	if (fd == STDIN_FILENO)
		trace_ruby_see_stream();
	return HOOK_NEXT(isatty)(fd);
}

AGENT_EXPORT char *getenv(const char *name)
{
	const bool is_rubys = name[0] == 'R' && strncmp(name, "RUBY", 4) == 0;

	if (__builtin_expect(is_rubys, 0) && strcmp(name, "RUBYLIB") == 0) {
		trace_dlopened_look(__builtin_return_address(0));
		trace_ruby_see_vm();
	}
	char *value = HOOK_NEXT(getenv)(name);

	if (__builtin_expect(is_rubys, 0))
		trace_ruby_see_value(name, value);
	return value;
}
