/*
 * Calibration of Python's hooks, by loops that call one thing each.  The code is compiled twice,
 * and one copy's calls are reported to hooks.
 *
 * An event's cost depends on how a function is called (call_kind.h), and a hook's on the code
 * around the call, whose reads and writes overlap with it.  So each kind has loops of several
 * shapes, most of which use the result, as programs do; two of those for functions allocate
 * objects (numbers beyond 256).  No module is created, nothing is imported or audited, and all
 * objects are freed in the end.
 */
#include "agent/trace/calibrate.h"

#include <stddef.h>

#include "agent/trace/python/api.h"

#define TURNS        100U
#define PER_MILLE    1000
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A loop: its name, its callees' own time (struct trace_loop: like, permille), and its code. */
#define LOOP_MAP(X)                                                                   \
	X(NOTHING, NOTHING, 0, "for i in b:pass")                                     \
	X(WORK_INLINE, NOTHING, 0, "for i in b:\n  y=i+1\n  y=y*3\n  y=y-i\n  y=y^5") \
	X(ARGUMENT, NOTHING, 0, "for i in b:a(i)")                                    \
	X(WORK, WORK_INLINE, PER_MILLE, "for i in b:w(i)")                            \
	X(RECURSION, NOTHING, 0, "for i in b:r(2)")                                   \
	X(ADD, NOTHING, 0, "y=999\n for i in b:y^=p(i,999)")                          \
	X(NESTED, NOTHING, 0, "y=999\n for i in b:y^=n(i+999)")                       \
	X(MAP, NOTHING, 0, "for i in map(a,b):pass")                                  \
	X(SORTED, NOTHING, 0, "sorted(b,key=a)")                                      \
	X(GENERATOR, GENERATOR, 500, "for i in g():pass")                             \
	X(DELEGATED, NOTHING, 0, "for i in d():pass")                                 \
	X(SUM, NOTHING, 0, "sum(g())")                                                \
	X(LENGTH, LENGTH, 250, "for i in b:len(b)")                                   \
	X(ABSOLUTE, ABSOLUTE, 250, "for i in b:abs(i)")                               \
	X(LENGTH_USED, NOTHING, 0, "y=0\n for i in b:y+=len('a')")                    \
	X(ABSOLUTE_USED, NOTHING, 0, "y=0\n for i in k:y^=abs(i)")                    \
	X(ORDINAL_USED, NOTHING, 0, "y=0\n for i in s:y+=ord(i)")                     \
	X(METHOD, METHOD, 250, "for i in b:i.bit_length()")                           \
	X(METHOD_USED, NOTHING, 0, "for i in k:y=i.bit_length()+i")                   \
	X(APPEND, APPEND, 250, "l=[]\n for i in b:l.append(i)")                       \
	X(GET, GET, 250, "d={}\n for i in b:d.get(i)")                                \
	X(MAXIMUM, NOTHING, 0, "for i in b:max(i,9)")                                 \
	X(MAXIMUM_USED, NOTHING, 0, "y=0\n for i in b:y+=max(i,9)")                   \
	X(STARTS, NOTHING, 0, "for i in b:s.startswith('a')")                         \
	X(FIND_USED, NOTHING, 0, "y=0\n for i in b:y+=s.find('.')")                   \
	X(TYPE, NOTHING, 0, "for i in b:object()")

enum loop {
#define X(name, like, permille, body) LOOP_##name,
	LOOP_MAP(X)
#undef X
		LOOP_COUNT,
};

static const struct trace_loop loops[] = {
#define X(name, like, permille, body) { LOOP_##like, (permille) },
	LOOP_MAP(X)
#undef X
};
static const char *const names[] = {
#define X(name, like, permille, body) #name,
	LOOP_MAP(X)
#undef X
};

/*
 * The functions that loops call, and one function per loop, named after it.  b has TURNS bytes, s
 * as many characters; k yields as many new numbers.
 */
static const char source[] = "b=b'.'*100\n"
			     "s=b.decode()\n"
			     "k=range(999,1099)\n"
			     "def a(x):return x\n"
			     "def w(x):\n y=x+1\n y=y*3\n y=y-x\n return y^5\n"
			     "def r(x):return x if x<2 else r(x-1)+r(x-2)\n"
			     "def g():\n for i in b:yield i\n"
			     "def d():yield from g()\n"
			     "def p(x,z):return x+z\n"
			     "def n(x):return p(x,1)\n"
#define X(name, like, permille, body) "def " #name "():\n " body "\n"
	LOOP_MAP(X)
#undef X
	;

static const struct trace_rule functions_of = {
	.kind = TRACE_KIND_PYTHON,
	.count = 5,
	.own_count = 2,
	.loops = { LOOP_ARGUMENT, LOOP_WORK, LOOP_RECURSION, LOOP_ADD, LOOP_NESTED },
};
static const struct trace_rule uncalled_of = {
	.kind = TRACE_KIND_PYTHON_UNCALLED,
	.count = 2,
	.own_count = 1,
	.loops = { LOOP_MAP, LOOP_SORTED },
};
static const struct trace_rule resumed_of = {
	.kind = TRACE_KIND_PYTHON_RESUMED,
	.count = 3,
	.own_count = 1,
	.loops = { LOOP_GENERATOR, LOOP_DELEGATED, LOOP_SUM },
};
/* For calls with any number of arguments the inside part is taken from the kind before. */
static const struct trace_rule builtins_of[] = {
	{ .kind = TRACE_KIND_PYTHON_BUILTIN,
	  .count = 5,
	  .own_count = 2,
	  .loops = { LOOP_LENGTH, LOOP_ABSOLUTE, LOOP_LENGTH_USED, LOOP_ABSOLUTE_USED,
		     LOOP_ORDINAL_USED } },
	{ .kind = TRACE_KIND_PYTHON_BUILTIN_MANY,
	  .count = 2,
	  .loops = { LOOP_MAXIMUM, LOOP_MAXIMUM_USED } },
	{ .kind = TRACE_KIND_PYTHON_METHOD,
	  .count = 4,
	  .own_count = 3,
	  .loops = { LOOP_METHOD, LOOP_APPEND, LOOP_GET, LOOP_METHOD_USED } },
	{ .kind = TRACE_KIND_PYTHON_METHOD_MANY,
	  .count = 2,
	  .loops = { LOOP_STARTS, LOOP_FIND_USED } },
};

/* One compiled copy of the source. */
struct copy {
	void *globals;
	void *loops[LOOP_COUNT]; /* borrowed references */
};

struct python {
	const struct trace_python_means *means;
	struct copy plain, seen;
};

static bool make_copy(struct copy *copy)
{
	void *code = trace_api_compile(source);

	copy->globals = code != NULL ? trace_api_run(code) : NULL;
	trace_api_drop(code);
	for (u32 loop = 0; copy->globals != NULL && loop < LOOP_COUNT; loop++)
		copy->loops[loop] = python_api.PyDict_GetItemString(copy->globals, names[loop]);
	return copy->globals != NULL;
}

/* Prepares all functions of the traced copy, the objects that have a __code__. */
static bool prepare(const struct python *python)
{
	void *key, *value;
	bool is_prepared = true;
	s64 at = 0;

	while (python->means->prepare != NULL && is_prepared &&
	       python_api.PyDict_Next(python->seen.globals, &at, &key, &value) != 0) {
		void *code = python_api.PyObject_GetAttrString(value, "__code__");

		is_prepared =
			code == NULL || python->means->prepare(python->means->context, code);
		trace_api_drop(code);
		python_api.PyErr_Clear();
	}
	return is_prepared;
}

static bool set_hooks(void *context, bool has_hooks)
{
	const struct trace_python_means *means = ((const struct python *)context)->means;

	if (means->set != NULL)
		means->set(means->context, has_hooks);
	return true;
}

static bool run_loop(void *context, u32 loop, bool has_hooks)
{
	const struct python *python = context;

	return trace_api_drop(python_api.PyObject_CallObject(
		(has_hooks ? &python->seen : &python->plain)->loops[loop], NULL));
}

/*
 * How many times longer bytecode takes under tracing; removes that part from the cost of calling
 * the function that works.  Time in C besides bytecode does not grow: taken as a quarter.
 */
static u32 take_out_stretch(struct trace_measured *measured)
{
	const s64 slower = measured[LOOP_WORK_INLINE].added - measured[LOOP_NOTHING].added;
	const s64 plain = measured[LOOP_WORK_INLINE].plain;

	measured[LOOP_WORK].added -= slower;
	measured[LOOP_WORK].inner -= slower;
	return plain > 0 && slower > 0 ? (u32)(PER_MILLE + slower * PER_MILLE / plain * 3 / 4)
				       : PER_MILLE;
}

/* sys.monitoring also reports calls of objects that are no functions, such as types. */
static void report_others(const struct trace_measured *measured)
{
	const struct trace_measured *type = &measured[LOOP_TYPE];
	const s64 events = type->uncounted[TRACE_UNCOUNTED_OTHER];

	if (events > 0) {
		const struct trace_cost cost = trace_uncounted_cost(
			(type->added - measured[LOOP_NOTHING].added) / events, type->noise);

		trace_report_cost(TRACE_KIND_COUNT + TRACE_UNCOUNTED_OTHER, &cost);
	}
}

static void report_builtins(const struct trace_calibration *calibration,
			    const struct trace_measured *measured)
{
	struct trace_cost cost = { 0 };

	for (u32 i = 0; i < COUNT(builtins_of); i++) {
		const struct trace_cost before = cost;

		if (trace_find_cost(calibration, measured, &builtins_of[i], &before, &cost))
			trace_report_cost(builtins_of[i].kind, &cost);
	}
}

static void report(const struct trace_calibration *calibration, struct trace_measured *measured,
		   bool slows_bytecode)
{
	const u32 stretch = slows_bytecode ? take_out_stretch(measured) : PER_MILLE;
	struct trace_cost functions, uncalled, resumed;

	if (!trace_find_cost(calibration, measured, &functions_of, NULL, &functions) ||
	    !trace_find_cost(calibration, measured, &uncalled_of, NULL, &uncalled) ||
	    !trace_find_cost(calibration, measured, &resumed_of, NULL, &resumed))
		return;
	/* Instructions that call may be reported by a separate event. */
	if (measured[LOOP_WORK].uncounted[TRACE_UNCOUNTED_FUNCTION] > 0) {
		const struct trace_cost more =
			trace_uncounted_cost(functions.inside + functions.outside -
						     uncalled.inside - uncalled.outside,
					     functions.spread);

		trace_report_cost(TRACE_KIND_COUNT + TRACE_UNCOUNTED_FUNCTION, &more);
		functions = uncalled;
	}
	functions.stretch_permille = uncalled.stretch_permille = resumed.stretch_permille =
		stretch;
	trace_report_cost(TRACE_KIND_PYTHON, &functions);
	trace_report_cost(TRACE_KIND_PYTHON_UNCALLED, &uncalled);
	trace_report_cost(TRACE_KIND_PYTHON_RESUMED, &resumed);
	report_others(measured);
	report_builtins(calibration, measured);
}

void trace_calibrate_python(const struct trace_python_means *means)
{
	struct trace_measured measured[LOOP_COUNT];
	struct python python = { .means = means };
	const struct trace_calibration calibration = { .context = &python,
						       .set = set_hooks,
						       .run = run_loop,
						       .turns = TURNS,
						       .depth = 2,
						       .loops = loops,
						       .count = LOOP_COUNT };

	if (!python_api.is_whole)
		return;
	set_hooks(&python, false);
	if (make_copy(&python.plain) && make_copy(&python.seen) && prepare(&python) &&
	    trace_calibrate(&calibration, measured))
		report(&calibration, measured, means->slows_bytecode);
	set_hooks(&python, false);
	python_api.PyErr_Clear();
	trace_api_drop_names(python.plain.globals);
	trace_api_drop_names(python.seen.globals);
	set_hooks(&python, true);
}
