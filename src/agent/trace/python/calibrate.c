/*
 * Loops of Python that call one thing each, compiled twice: one copy is seen by hooks.
 *
 * What an event costs depends on the way by which a function is called: from bytecode, where
 * sys.monitoring tells of the call by an event of its own, or from C; and a method of a type in
 * C is bound for c_profilefunc.  So each kind has more than one loop.  No module is made,
 * nothing is imported or audited, and what was made is gone when this returns.
 */
#include "agent/trace/python/calibrate.h"

#include <stddef.h>

#include "agent/core/arch.h"
#include "agent/core/entries.h"
#include "agent/trace/calibrate.h"
#include "agent/trace/python/symbols.h"

#define TURNS      100U
#define FILE_INPUT 257 /* Py_file_input (Include/compile.h) */

/*
 * Functions that loops call, and loops named l0, l1, …; b has TURNS bytes, s as many characters, and
 * k as many numbers that are made anew.
 */
static const char definitions[] = "b=b'.'*100\n"
				  "s=b.decode()\n"
				  "k=range(999,1099)\n"
				  "def e():pass\n"
				  "def a(x):return x\n"
				  "def w(x):\n y=x+1\n y=y*3\n y=y-x\n return y^5\n"
				  "def r(x):return x if x<2 else r(x-1)+r(x-2)\n"
				  "def g():\n for i in b:yield i\n"
				  "def d():yield from g()\n"
				  "def p(x,z):return x+z\n"
				  "def n(x):return p(x,1)\n";
static const char *const bodies[] = {
#define X(name, body) body,
	LOOP_MAP(X)
#undef X
};
static const char *const callees[] = { "e", "a", "w", "r", "g", "d", "p", "n" };
#define CALLEE_COUNT (sizeof callees / sizeof *callees)
/* "def l10():\n \n", and each body with its end. */
#define BYTES_BESIDE 14U
enum {
#define X(name, body) +sizeof body + BYTES_BESIDE
	SOURCE_BYTES = sizeof definitions LOOP_MAP(X)
#undef X
};

#define ENTRY_MAP(X)                                                                 \
	X(Py_CompileString, void *, (const char *source, const char *name, int how)) \
	X(PyEval_EvalCode, void *, (void *code, void *globals, void *locals))        \
	X(PyEval_GetBuiltins, void *, (void))                                        \
	X(PyDict_New, void *, (void))                                                \
	X(PyDict_Clear, void, (void *dict))                                          \
	X(PyDict_SetItemString, int, (void *dict, const char *key, void *value))     \
	X(PyDict_GetItemString, void *, (void *dict, const char *key))               \
	X(PyObject_GetAttrString, void *, (void *object, const char *name))          \
	X(PyObject_CallObject, void *, (void *callable, void *arguments))            \
	X(Py_DecRef, void, (void *object))                                           \
	X(PyErr_Clear, void, (void))

ENTRY_MAP(ENTRY_TYPE)

struct entries {
	ENTRY_MAP(ENTRY_MEMBER)
};

/* One copy. */
struct copy {
	void *globals;
	void *loops[LOOP_COUNT]; /* borrowed of it */
};

struct python {
	struct entries entries;
	const struct trace_python_means *means;
	struct copy plain, seen;
};

static char *put(char *at, const char *text)
{
	while (*text != '\0')
		*at++ = *text++;
	return at;
}

/* l0 to l99 */
static char *put_loop_name(char *at, u32 loop)
{
	*at++ = 'l';
	if (loop >= 10)
		*at++ = (char)('0' + loop / 10);
	*at++ = (char)('0' + loop % 10);
	return at;
}

static void write_source(char *source)
{
	char *at = put(source, definitions);

	for (u32 loop = 0; loop < LOOP_COUNT; loop++) {
		at = put(at, "def ");
		at = put_loop_name(at, loop);
		at = put(at, "():\n ");
		at = put(at, bodies[loop]);
		at = put(at, "\n");
	}
	*at = '\0';
}

static bool drop(const struct entries *entries, void *object)
{
	if (object != NULL)
		entries->Py_DecRef(object);
	return object != NULL;
}

static bool make_copy(const struct entries *entries, const char *source, struct copy *copy)
{
	void *builtins = entries->PyEval_GetBuiltins();

	copy->globals = entries->PyDict_New();
	if (builtins == NULL || copy->globals == NULL ||
	    entries->PyDict_SetItemString(copy->globals, "__builtins__", builtins) != 0)
		return false;
	void *code = entries->Py_CompileString(source, "", FILE_INPUT);

	if (code == NULL)
		return false;
	const bool is_run =
		drop(entries, entries->PyEval_EvalCode(code, copy->globals, copy->globals));

	drop(entries, code);
	for (u32 loop = 0; is_run && loop < LOOP_COUNT; loop++) {
		char name[4] = { 0 };

		put_loop_name(name, loop);
		copy->loops[loop] = entries->PyDict_GetItemString(copy->globals, name);
		if (copy->loops[loop] == NULL)
			return false;
	}
	return is_run;
}

/* The functions hold the dict that holds them. */
static void drop_copy(const struct entries *entries, struct copy *copy)
{
	if (copy->globals == NULL)
		return;
	entries->PyDict_Clear(copy->globals);
	entries->Py_DecRef(copy->globals);
}

static bool prepare(const struct python *python, void *function)
{
	const struct entries *entries = &python->entries;
	void *code =
		function != NULL ? entries->PyObject_GetAttrString(function, "__code__") : NULL;
	const bool is_prepared =
		code != NULL && python->means->prepare(python->means->context, code);

	drop(entries, code);
	return is_prepared;
}

static bool prepare_all(const struct python *python)
{
	if (python->means->prepare == NULL)
		return true;
	for (u32 i = 0; i < CALLEE_COUNT; i++) {
		if (!prepare(python, python->entries.PyDict_GetItemString(python->seen.globals,
									  callees[i])))
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

	return drop(&python->entries,
		    python->entries.PyObject_CallObject(
			    (has_hooks ? &python->seen : &python->plain)->loops[loop], NULL));
}

void trace_calibrate_python(const struct trace_python_means *means)
{
	char source[SOURCE_BYTES];
	struct trace_measured measured[LOOP_COUNT];
	struct python python = { .means = means };
	const struct trace_calibration calibration = { .context = &python,
						       .set = set_hooks,
						       .run = run_loop,
						       .turns = TURNS,
						       .depth = 2 };

	if (!TRACE_SYMBOLS_FIND(&python.entries, ENTRY_MAP))
		return;
	write_source(source);
	if (means->set != NULL)
		means->set(means->context, false);
	if (make_copy(&python.entries, source, &python.plain) &&
	    make_copy(&python.entries, source, &python.seen) && prepare_all(&python) &&
	    trace_calibrate(&calibration, LOOP_COUNT, measured))
		trace_calibrate_python_tell(measured, means->slows_bytecode);
	if (means->set != NULL)
		means->set(means->context, false);
	python.entries.PyErr_Clear();
	drop_copy(&python.entries, &python.plain);
	drop_copy(&python.entries, &python.seen);
	if (means->set != NULL)
		means->set(means->context, true);
}
