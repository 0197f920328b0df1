#include "vantage/agent/trace/python/trace_profilers.h"

#include <string.h>

#include "vantage/agent/agent.h"
#include "vantage/agent/trace/trace.h"
#include "vantage/agent/trace/trace_word.h"
#include "walk/name_text.h"

/* Include/methodobject.h: how a method is called.  Behind these there are other ways. */
#define FLAGS_VARARGS  0x1
#define FLAGS_KEYWORDS 0x2
#define FLAGS_NONE     0x4
#define FLAGS_ONE      0x8
#define FLAGS_OF_THREE (FLAGS_VARARGS | FLAGS_KEYWORDS | FLAGS_NONE | FLAGS_ONE)

/* PyMethodDef.  In each of these ways it has no more than three arguments. */
typedef void *three_arguments(void *self, void *arguments, void *keywords);
struct method {
	const char *name;
	three_arguments *function;
	int flags;
	const char *doc;
};

#define METHODS_MAX 16U

enum { SET_PROFILE, ENABLE, DISABLE, PROFILERS };
static three_arguments *theirs[PROFILERS];
static u64 set_profile; /* the PyMethodDef */

static void *call(u32 which, void *self, void *arguments, void *keywords)
{
	void *result = theirs[which](self, arguments, keywords);

	if (trace_python_put_back())
		trace_note_other_tool();
	return result;
}

/*
 * What is set in place of ours would be told of the end of this call, for the interpreter decides
 * when it has returned.  It has not been told of the beginning: profile.py takes that for an error.
 */
static void *on_set_profile(void *self, void *arguments, void *keywords)
{
	const bool was_ours = trace_python_has_function();
	void *result = call(SET_PROFILE, self, arguments, keywords);

	if (was_ours)
		trace_python_hide_end(set_profile);
	return result;
}

static void *on_enable(void *self, void *arguments, void *keywords)
{
	return call(ENABLE, self, arguments, keywords);
}

static void *on_disable(void *self, void *arguments, void *keywords)
{
	return call(DISABLE, self, arguments, keywords);
}

static three_arguments *const ours[PROFILERS] = { on_set_profile, on_enable, on_disable };

static bool stand_before(struct method *method, u32 which)
{
	if (method->function == ours[which])
		return true;
	if (method->flags == 0 || (method->flags & ~FLAGS_OF_THREE) != 0)
		return false;
	theirs[which] = method->function;
	return trace_put_word((void **)&method->function, *(void *const *)&ours[which]);
}

/* It is called when nobody tells us what is called: so it is looked for behind enable(). */
static bool stand_before_disable(struct method *method)
{
	for (u32 i = 0; i < METHODS_MAX && method->name != NULL; i++, method++) {
		if (strcmp(method->name, "disable") == 0)
			return stand_before(method, DISABLE);
	}
	return false;
}

void trace_profilers_meet(u64 address, const struct name_text *qualified)
{
	struct method *method = (struct method *)address;
	bool is_seen = true;

	if (name_text_is(qualified, "sys.setprofile")) {
		set_profile = address;
		is_seen = stand_before(method, SET_PROFILE);
	} else if (name_text_is(qualified, "_lsprof.Profiler.enable")) {
		is_seen = stand_before_disable(method) && stand_before(method, ENABLE);
	}
	/* What is set stays set, for all that we know. */
	if (!is_seen)
		trace_note_other_tool();
}
