/*
 * ruby - makes the agent an extension of CRuby, for share/ruby/fathom.rb.
 *
 * Ruby loads an extension by dlopen(), which returns the library that is loaded already, and
 * calls Init_NAME() in it, NAME being the file's.  So share/ruby/fathom.rb gets methods in C,
 * without Fiddle.
 *
 * Fathom.region is a method with a block; its control frame, which calls the block, is the region's
 * place.  That frame has no other use for a reader, so the region replaces it in stacks.
 */
#include <dlfcn.h>

#include "agent/control/control.h"
#include "agent/core/own_ring.h"
#include "agent/core/entries.h"
#include "agent/core/memory.h"
#include "agent/interpreters/layouts.h"
#include "agent/interpreters/ruby/state.h"
#include "walk/ruby.h"

#define MODULE "FathomAgent"

typedef u64 value;

/* Of every version's C API. */
#define ENTRY_MAP(X)                                                               \
	X(rb_define_module, value, (const char *name))                             \
	X(rb_define_module_function, void,                                         \
	  (value module, const char *name, void (*function)(void), int arguments)) \
	X(rb_string_value_cstr, const char *, (volatile value * string))

ENTRY_MAP(ENTRY_TYPE)

static struct entries {
	ENTRY_MAP(ENTRY_MEMBER)
} api;

/*
 * Finds the control frame of the method that called us: the one outside of our own.  The
 * interpreter's state does not change while it executes us, and can be read directly.
 */
static void find_place(struct region_place *out_place)
{
	const struct ruby_layout *layout = layouts_ruby_outside(own_ring.header);
	struct mem mem = { .stack_low = 0, .stack_high = ~0ULL };
	struct ruby_frame frame = { 0 };
	struct ruby_walk walk;

	*out_place = (struct region_place){ .anchor = REGION_RUBY };
	if (layout == NULL)
		return;
	const u64 context = ruby_find_context(&mem, layout);

	if (context == 0 || ruby_begin(&mem, layout, context, &walk) < 0)
		return;
	for (u32 i = 0; i < 2; i++) {
		if (ruby_next(&mem, &walk, &frame) != RUBY_FRAME)
			return;
	}
	out_place->count = 1;
	out_place->frames[0].frame = frame.address;
}

/* A method's first argument is its receiver.  The name is a String: fathom.rb ensures that. */
static value begin_region(value self, value name)
{
	struct region_place place;

	if (control_is_on()) {
		const char *text = api.rb_string_value_cstr(&name);

		find_place(&place);
		control_begin_region(&place, text, __builtin_strlen(text), NULL);
	}
	return self;
}

static value end_region(value self, value name)
{
	struct region_place place;

	if (control_is_on()) {
		const char *text = api.rb_string_value_cstr(&name);

		find_place(&place);
		control_end_region(&place, text, __builtin_strlen(text));
	}
	return self;
}

static value pause_here(value self)
{
	control_pause();
	return self;
}

static value resume_here(value self)
{
	control_resume();
	return self;
}

/* Returns self, which is true, or 0, which is false in every version (Qfalse). */
static value is_running(value self)
{
	return control_is_running() ? self : 0;
}

void control_begin_ruby(void)
{
	static const struct {
		const char *name;
		void (*function)(void);
		int arguments;
	} functions[] = {
		{ "begin_region", (void (*)(void))begin_region, 1 },
		{ "end_region", (void (*)(void))end_region, 1 },
		{ "pause", (void (*)(void))pause_here, 0 },
		{ "resume", (void (*)(void))resume_here, 0 },
		{ "running?", (void (*)(void))is_running, 0 },
	};

	if (!ENTRIES_FIND(&api, ENTRY_MAP, dlsym, RTLD_DEFAULT))
		return;
	const value module = api.rb_define_module(MODULE);

	for (u32 i = 0; i < sizeof functions / sizeof *functions; i++)
		api.rb_define_module_function(module, functions[i].name, functions[i].function,
					      functions[i].arguments);
}
