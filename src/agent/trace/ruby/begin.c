/*
 * When hooks are added to a Ruby: its VM has been set up, or a Ractor begins; and whether it
 * compiles what it executes.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/core/program_start.h"
#include "agent/interpreters/ruby/state.h"
#include "agent/trace/area.h"
#include "agent/trace/calibrate.h"
#include "agent/trace/ruby/ruby.h"

static struct {
	u64 main_context; /* of the first Ractor's first thread */
	u32 is_installed;
} begun;

/* The calling thread's, in a VM that has been set up; 0: there is none. */
static u64 find_context(void)
{
	struct mem mem = { .stack_low = 0, .stack_high = ~0ULL };

	return ruby_find_context(&mem, trace_ruby_layout());
}

/*
 * Hooks are a Ractor's own from 3.0 on.  A new one makes its standard streams before anything else
 * (rb_io_prep_stdin() in thread.c, thread_start_func_2()), of which it asks whether they are
 * terminals: it has no frames then, or the one that they begin with.  From 3.1 on the last hook
 * of a Ractor that ends, or there being none, decides which events there are for all others
 * (vm_trace.c, clean_hooks()): so one without ours would end the whole trace.
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

/* --yjit, --jit and the like among options, up to NULL. */
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
 * ruby_init_loadpath(), which every program calls that has an interpreter, asks for RUBYLIB: the VM
 * has been set up, the calling thread has the GVL, and nothing has been executed but what Ruby
 * defines itself by.
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
		/* What is compiled without hooks is interpreted with them: no call's cost. */
		if (trace_area_of_process()->has_jit != 0 ||
		    !trace_calibrate_ruby(context, trace_ruby_install))
			trace_ruby_install();
	}
}

/* The variables that ruby's command line may be continued in. */
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
