/*
 * Adds the event hooks to a Ruby when its VM has been set up, and to each new Ractor; finds out
 * whether it has a JIT compiler on.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/core/program_start.h"
#include "agent/interpreters/ruby/state.h"
#include "agent/trace/area.h"
#include "agent/trace/calibrate.h"
#include "agent/trace/ruby/ruby.h"

static struct {
	u64 main_context; /* the execution context of the main Ractor's first thread */
	u32 is_installed;
} begun;

/* The calling thread's execution context; 0: the VM is not set up, or knows no such thread. */
static u64 find_context(void)
{
	struct mem mem = { .stack_low = 0, .stack_high = ~0ULL };

	return ruby_find_context(&mem, trace_ruby_layout());
}

/*
 * From 3.0 on hooks belong to a Ractor.  A new Ractor first creates its standard streams
 * (rb_io_prep_stdin() in thread.c, thread_start_func_2()), and calls isatty() for them: it has no
 * frames then, or only the initial one.  From 3.1 on, when the last hook of a Ractor that ends is
 * removed, or if it has none, that decides which events are enabled for all others (vm_trace.c,
 * clean_hooks()): so one Ractor without our hooks would end the whole trace.
 */
static void see_ractor(void)
{
	const u64 context = find_context();

	if (context == 0 || context == begun.main_context)
		return;
	const u64 stack = trace_word(context, trace_ruby.ec_stack);
	const u64 bytes = trace_word(context, trace_ruby.ec_stack_size) * sizeof(u64);

	if (stack != 0 &&
	    trace_word(context, trace_ruby.ec_frame) < stack + bytes - trace_ruby.frame_size)
		return;
	trace_ruby_install();
}

void trace_ruby_see_stream(void)
{
	if (__atomic_load_n(&begun.is_installed, __ATOMIC_RELAXED) &&
	    trace_area_of_process() != NULL)
		see_ractor();
}

void trace_ruby_note_jit(void)
{
	struct trace_area *area = trace_area_of_process();

	if (area != NULL)
		__atomic_store_n(&area->has_jit, 1, __ATOMIC_RELAXED);
}

/* Whether --yjit, --jit or --rjit is among options, which end with NULL. */
static bool asks_for_jit(const char *const *options)
{
	for (; options != NULL && *options != NULL; options++) {
		if (strstr(*options, "--yjit") != NULL || strstr(*options, "--jit") != NULL ||
		    strstr(*options, "--rjit") != NULL)
			return true;
	}
	return false;
}

/*
 * ruby_init_loadpath(), which every program with an interpreter calls, reads RUBYLIB: then the VM
 * has been set up, the calling thread has the GVL, and only Ruby itself was executed.
 */
void trace_ruby_see_vm(void)
{
	const u64 context = trace_ruby_layout() != NULL && trace_area_of_process() != NULL
				    ? find_context()
				    : 0;

	if (context != 0 &&
	    __atomic_exchange_n(&begun.is_installed, 1, __ATOMIC_RELAXED) == 0) {
		begun.main_context = context;
		if (asks_for_jit(program_start.arguments))
			trace_ruby_note_jit();
		/* No calibration: with a JIT, hooks make code be interpreted. */
		if (trace_area_of_process()->has_jit != 0 ||
		    !trace_calibrate_ruby(context, trace_ruby_install))
			trace_ruby_install();
	}
}

/* RUBYOPT and the like extend ruby's command line. */
void trace_ruby_see_value(const char *name, const char *value)
{
	const char *const options[] = { value, NULL };

	if (value == NULL || trace_ruby_layout() == NULL)
		return;
	if (strcmp(name, "RUBY_YJIT_ENABLE") == 0
		    ? value[0] == '1' || value[0] == 't' || value[0] == 'y'
		    : strcmp(name, "RUBYOPT") == 0 && asks_for_jit(options))
		trace_ruby_note_jit();
}
