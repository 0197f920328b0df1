/*
 * floor_ruby - the least that a hook of CRuby's can cost: it is called and reads the clock.
 *
 * ruby -r FOLDER/floor_ruby.so.  Events and flags are those of ruby/debug.h and
 * ruby/internal/event.h.
 */
#include <x86intrin.h>

#define CALL_RETURN_C_CALL_C_RETURN 0x78U
#define SAFE_RAW_ARG                5 /* RUBY_EVENT_HOOK_FLAG_SAFE | RUBY_EVENT_HOOK_FLAG_RAW_ARG */

void rb_add_event_hook2(void (*function)(unsigned long, const void *), unsigned int events,
			unsigned long data, int flags);

static unsigned long long last;

static void called(unsigned long data, const void *event)
{
	(void)data, (void)event;
	last = __rdtsc();
}

__attribute__((visibility("default"))) void Init_floor_ruby(void)
{
	rb_add_event_hook2(called, CALL_RETURN_C_CALL_C_RETURN, 0, SAFE_RAW_ARG);
}
