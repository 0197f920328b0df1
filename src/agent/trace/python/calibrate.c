/*
 * Loops of Python that call one thing each, compiled twice: one copy is seen by hooks.
 *
 * What an event costs depends on the way by which a function is called: from bytecode, where
 * sys.monitoring reports the call by an event of its own, or from C; and a method of a type in
 * C is bound for c_profilefunc.  So each kind has more than one loop.  No module is made,
 * nothing is imported or audited, and what was made is gone when this returns.
 */
#include "agent/trace/python/calibrate.h"

#include <stddef.h>

#include "agent/trace/calibrate.h"
#include "agent/trace/python/api.h"

#define TURNS 100U

/*
 * Functions that loops call, and a function for each loop, of its name; b has TURNS bytes, s as many
 * characters, and k as many numbers that are made anew.
 */
static const char source[] = "b=b'.'*100\n"
			     "s=b.decode()\n"
			     "k=range(999,1099)\n"
			     "def e():pass\n"
			     "def a(x):return x\n"
			     "def w(x):\n y=x+1\n y=y*3\n y=y-x\n return y^5\n"
			     "def r(x):return x if x<2 else r(x-1)+r(x-2)\n"
			     "def g():\n for i in b:yield i\n"
			     "def d():yield from g()\n"
			     "def p(x,z):return x+z\n"
			     "def n(x):return p(x,1)\n"
#define X(name, body) "def " #name "():\n " body "\n"
	LOOP_MAP(X)
#undef X
	;
static const char *const names[] = {
#define X(name, body) #name,
	LOOP_MAP(X)
#undef X
};
static const char *const callees[] = { "e", "a", "w", "r", "g", "d", "p", "n" };
#define CALLEE_COUNT (sizeof callees / sizeof *callees)

/* One copy. */
struct copy {
	void *globals;
	void *loops[LOOP_COUNT]; /* borrowed of it */
};

struct python {
	const struct trace_python_means *means;
	struct copy plain, seen;
};

static bool drop(void *object)
{
	if (object != NULL)
		python_api.Py_DecRef(object);
	return object != NULL;
}

static bool make_copy(struct copy *copy)
{
	void *code = trace_api_compile(source);

	copy->globals = code != NULL ? trace_api_run(code) : NULL;
	drop(code);
	for (u32 loop = 0; copy->globals != NULL && loop < LOOP_COUNT; loop++)
		copy->loops[loop] = python_api.PyDict_GetItemString(copy->globals, names[loop]);
	return copy->globals != NULL;
}

static bool prepare(const struct python *python, void *function)
{
	void *code = function != NULL ? python_api.PyObject_GetAttrString(function, "__code__")
				      : NULL;
	const bool is_prepared =
		code != NULL && python->means->prepare(python->means->context, code);

	drop(code);
	return is_prepared;
}

static bool prepare_all(const struct python *python)
{
	if (python->means->prepare == NULL)
		return true;
	for (u32 i = 0; i < CALLEE_COUNT; i++) {
		if (!prepare(python,
			     python_api.PyDict_GetItemString(python->seen.globals, callees[i])))
			return false;
	}
	for (u32 loop = 0; loop < LOOP_COUNT; loop++) {
		if (!prepare(python, python->seen.loops[loop]))
			return false;
	}
	return true;
}

static void set_hooks(void *context, bool has_hooks)
{
	const struct trace_python_means *means = ((const struct python *)context)->means;

	if (means->set != NULL)
		means->set(means->context, has_hooks);
}

static bool run_loop(void *context, u32 loop, bool has_hooks)
{
	const struct python *python = context;

	return drop(python_api.PyObject_CallObject(
		(has_hooks ? &python->seen : &python->plain)->loops[loop], NULL));
}

void trace_calibrate_python(const struct trace_python_means *means)
{
	struct trace_measured measured[LOOP_COUNT];
	struct python python = { .means = means };
	const struct trace_calibration calibration = { .context = &python,
						       .set = set_hooks,
						       .run = run_loop,
						       .turns = TURNS,
						       .depth = 2 };

	if (!python_api.is_whole)
		return;
	if (means->set != NULL)
		means->set(means->context, false);
	if (make_copy(&python.plain) && make_copy(&python.seen) && prepare_all(&python) &&
	    trace_calibrate(&calibration, LOOP_COUNT, measured))
		trace_calibrate_python_report(measured, means->slows_bytecode);
	if (means->set != NULL)
		means->set(means->context, false);
	python_api.PyErr_Clear();
	trace_api_drop_names(python.plain.globals);
	trace_api_drop_names(python.seen.globals);
	if (means->set != NULL)
		means->set(means->context, true);
}
