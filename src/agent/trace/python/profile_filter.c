#include "agent/trace/python/profile_filter.h"

#include <stddef.h>
#include <string.h>

#include "abi/python_layout.h"
#include "agent/trace/area.h"
#include "agent/trace/python/profile_function.h"
#include "agent/trace/word.h"

/* c_profilefunc, c_tracefunc and c_profileobj are consecutive words from 3.6 to 3.15. */
#define FUNCTION_TO_OBJECT 2

/* Most threads of one interpreter. */
#define STATES_MAX 65536U
/* Open calls of C functions in one thread, nested or in several greenlets. */
#define CALLERS_MAX 64U

static struct {
	u32 place; /* of c_profilefunc, in a thread state; 0: not known yet */
	/* Whether instructions report calls to us alone; NULL: not by sys.monitoring. */
	bool (*is_by_us)(void);
	/* The C function that sys.setprofile() sets; the same in every thread. */
	trace_profile_function *passed_to;
	u32 round; /* how often one thread set the profile functions of others */
} filter;

/*
 * The calling thread's C calls whose beginning was passed on and whose end was not yet, each by
 * its calling frame.  A frame has one such call at a time; but with greenlets they may not end in
 * nesting order.  `beyond` counts those for which the array had no room.
 */
static __thread struct {
	u32 round;
	u32 count;
	u32 beyond;
	u64 callers[CALLERS_MAX];
} begun;

static void forget_begun(void)
{
	begun.round = filter.round;
	begun.count = 0;
	begun.beyond = 0;
}

static void begin_call(u64 caller)
{
	if (begun.count < CALLERS_MAX)
		begun.callers[begun.count++] = caller;
	else
		begun.beyond++;
}

/* False: its beginning was not passed on. */
static bool end_call(u64 caller)
{
	u32 at = begun.count;

	while (at > 0 && begun.callers[at - 1] != caller)
		at--;
	if (at == 0 && begun.beyond == 0)
		return false;
	if (at == 0) {
		begun.beyond--;
		return true;
	}
	begun.count--;
	memmove(&begun.callers[at - 1], &begun.callers[at],
		(begun.count + 1 - at) * sizeof *begun.callers);
	return true;
}

/* Whether this is the end of a call whose beginning was not passed on. */
static bool is_unmatched_end(int what, u64 caller)
{
	if (begun.round != filter.round)
		forget_begun();
	if (what == TRACE_PROFILE_C_CALL)
		begin_call(caller);
	return (what == TRACE_PROFILE_C_RETURN || what == TRACE_PROFILE_C_EXCEPTION) &&
	       !end_call(caller);
}

/* Py_tracefunc.  If the program's function fails, the interpreter removes it. */
static int on_event(void *object, void *frame_object, int what, void *argument)
{
	if (is_unmatched_end(what, (u64)frame_object))
		return 0;
	const int result = filter.passed_to(object, frame_object, what, argument);

	if (result != 0)
		trace_python_put_back();
	return result;
}

void trace_profile_filter_begin(u32 place, bool (*is_by_us)(void))
{
	/* Keep passed_to: a thread may still have on_event() set. */
	filter.place = place;
	filter.is_by_us = is_by_us;
}

static bool is_event_function(u64 function)
{
	return function == (u64)on_event;
}

void trace_profile_filter_before(struct trace_profile_filter *out)
{
	*out = (struct trace_profile_filter){ .state = trace_own_state() };
	if (out->state == 0)
		return;
	memcpy(out->words, (const void *)out->state, sizeof out->words);
	out->had_ours = trace_python_has_function();
	out->is_by_us = filter.is_by_us != NULL && filter.is_by_us();
	out->is_passed = filter.place != 0 &&
			 is_event_function(trace_word_at(out->state + filter.place));
}

/* Finds the members: both were empty before, and one is the object now. */
static void find_place(const struct trace_profile_filter *before, u64 given)
{
	const u64 *now = (const u64 *)before->state;

	if (given == trace_layout()->none)
		return;
	for (u32 i = 0; i + FUNCTION_TO_OBJECT < TRACE_PROFILE_FILTER_WORDS; i++) {
		const u32 object = i + FUNCTION_TO_OBJECT;

		if (before->words[i] == 0 && now[i] != 0 && before->words[object] == 0 &&
		    now[object] == given) {
			filter.place = i * sizeof(u64);
			return;
		}
	}
}

static void pass(u64 state)
{
	trace_profile_function **const place = (void *)(state + filter.place);

	filter.passed_to = *place;
	*place = on_event;
}

/* Whether the thread now has a profile function of the program's. */
static bool has_theirs(const struct trace_profile_filter *before, u64 given)
{
	if (before->state == 0)
		return false;
	if (filter.place == 0)
		find_place(before, given);
	return filter.place != 0 && trace_word_at(before->state + filter.place) != 0 &&
	       !is_event_function(trace_word_at(before->state + filter.place)) &&
	       !trace_python_has_function();
}

/* Whether it replaced ours, or none while instructions reported calls to us alone. */
static bool is_first(const struct trace_profile_filter *before)
{
	return before->had_ours ||
	       (before->is_by_us && before->words[filter.place / sizeof(u64)] == 0);
}

void trace_profile_filter_after(const struct trace_profile_filter *before, u64 given)
{
	if (!has_theirs(before, given) || (!before->is_passed && !is_first(before)))
		return;
	if (!before->is_passed)
		forget_begun();
	pass(before->state);
}

/* As no other tool wanted calls, no other thread had a profile function. */
void trace_profile_filter_after_all(const struct trace_profile_filter *before, u64 given)
{
	const struct python_layout *layout = trace_layout();

	if (!has_theirs(before, given) || !is_first(before)) {
		trace_profile_filter_after(before, given);
		return;
	}
	filter.round++;
	const u64 theirs = trace_word_at(before->state + filter.place);

	pass(before->state);
	/* Without a GIL, threads begin and end during this. */
	if (layout->is_free_threaded || layout->offsets.interp_threads == PYTHON_NO_FIELD ||
	    layout->offsets.state_next == PYTHON_NO_FIELD)
		return;
	const u64 interpreter = trace_word_at(before->state + layout->offsets.state_interp);
	u64 state = trace_word_at(interpreter + layout->offsets.interp_threads);

	for (u32 i = 0; state != 0 && i < STATES_MAX; i++) {
		if (trace_word_at(state + filter.place) == theirs)
			pass(state);
		state = trace_word_at(state + layout->offsets.state_next);
	}
}
