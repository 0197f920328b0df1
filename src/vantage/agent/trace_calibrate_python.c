/*
 * Loops of Python that call one thing each, compiled twice: one copy is seen by hooks.
 *
 * What an event costs depends on the way by which a function is called: from bytecode, where
 * sys.monitoring tells of the call by an event of its own, or from C; and a method of a type in
 * C is bound for c_profilefunc.  So each kind has more than one loop.  No module is made,
 * nothing is imported or audited, and what was made is gone when this returns.
 */
#include <stddef.h>

#include "vantage/agent/agent.h"
#include "vantage/agent/arch.h"
#include "vantage/agent/trace.h"
#include "vantage/agent/trace_calibrate.h"
#include "vantage/agent/trace_late.h"

#define TURNS      100U
#define FILE_INPUT 257 /* Py_file_input (Include/compile.h) */
#define PER_MILLE  1000

#define LOOP_MAP(X)                                                       \
	X(NOTHING, "for i in b:pass")                                     \
	X(WORK_INLINE, "for i in b:\n  y=i+1\n  y=y*3\n  y=y-i\n  y=y^5") \
	X(EMPTY, "for i in b:e()")                                        \
	X(ARGUMENT, "for i in b:a(i)")                                    \
	X(WORK, "for i in b:w(i)")                                        \
	X(RECURSION, "for i in b:r(2)")                                   \
	X(THREE, "for i in b:\n  e()\n  a(i)\n  w(i)")                    \
	X(MAP, "for i in map(a,b):pass")                                  \
	X(GENERATOR, "for i in g():pass")                                 \
	X(LENGTH, "for i in b:len(b)")                                    \
	X(ABSOLUTE, "for i in b:abs(i)")                                  \
	X(LENGTH_USED, "y=0\n for i in b:y+=len(c)")                      \
	X(ABSOLUTE_USED, "y=0\n for i in b:y^=abs(i-999)")                \
	X(METHOD, "for i in b:i.bit_length()")                            \
	X(METHOD_USED, "for i in b:y=i.bit_length()+i")                   \
	X(APPEND, "l=[]\n for i in b:l.append(i)")                        \
	X(GET, "d={}\n for i in b:d.get(i)")                              \
	X(TYPE, "for i in b:object()")

enum loop {
#define X(name, body) LOOP_##name,
	LOOP_MAP(X)
#undef X
		LOOP_COUNT,
};

/*
 * Functions that loops call, and loops named l0, l1, …; b has TURNS bytes, and c so many that
 * their number is an object that is made when it is asked for, as most results are: between a
 * hook's reads and writes that takes longer.
 */
static const char definitions[] =
	"b=b'....................................................................."
	"...............................'\n"
	"c=b*3\n"
	"def e():pass\n"
	"def a(x):return x\n"
	"def w(x):\n y=x+1\n y=y*3\n y=y-x\n return y^5\n"
	"def r(x):return x if x<2 else r(x-1)+r(x-2)\n"
	"def g():\n for i in b:yield i\n";
static const char *const bodies[] = {
#define X(name, body) body,
	LOOP_MAP(X)
#undef X
};
static const char *const callees[] = { "e", "a", "w", "r", "g" };
#define CALLEE_COUNT (sizeof callees / sizeof *callees)
#define SOURCE_MAX   2048U

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

#define X(name, result, arguments) typedef result name##_type arguments;
ENTRY_MAP(X)
#undef X

struct entries {
#define X(name, result, arguments) name##_type *name;
	ENTRY_MAP(X)
#undef X
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

static bool find_entries(struct entries *entries)
{
	bool has_all = true;

	/* ISO C has no way from an object's pointer to a function's; POSIX has. */
#define X(name, result, arguments)                           \
	*(void **)&entries->name = trace_late_symbol(#name); \
	has_all = has_all && entries->name != NULL;
	ENTRY_MAP(X)
#undef X
	return has_all;
}

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

static s64 magnitude(s64 value)
{
	return value < 0 ? -value : value;
}

static s64 cost_of(const struct trace_measured *measured, enum loop loop)
{
	return trace_cost_of_call(&measured[loop], &measured[LOOP_NOTHING]);
}

/* How many times longer bytecode takes. */
static u32 stretch_of(const struct trace_measured *measured, bool slows_bytecode)
{
	const struct trace_measured *work = &measured[LOOP_WORK_INLINE];
	const s64 stretch = work->plain > 0 ? work->added * PER_MILLE / work->plain : 0;

	/* What is executed besides bytecode, in C, takes no longer: a quarter or so of it. */
	return slows_bytecode && stretch > 0 ? (u32)(PER_MILLE + stretch * 3 / 4) : PER_MILLE;
}

static bool has_calls(const struct trace_measured *measured, enum loop loop, u32 calls)
{
	return measured[loop].calls >= measured[loop].turns * calls;
}

/* Of functions: a call from bytecode may be told of twice. */
static void find_functions(const struct trace_measured *measured, bool slows_bytecode,
			   struct trace_found_cost *out)
{
	const s64 from_c[] = { cost_of(measured, LOOP_MAP), cost_of(measured, LOOP_GENERATOR) };
	/* What the work in it takes longer is no cost of its call. */
	const s64 slower =
		slows_bytecode ? measured[LOOP_WORK_INLINE].added - measured[LOOP_NOTHING].added
			       : 0;
	const s64 direct[] = { cost_of(measured, LOOP_EMPTY), cost_of(measured, LOOP_ARGUMENT),
			       cost_of(measured, LOOP_WORK) - slower,
			       cost_of(measured, LOOP_RECURSION) };
	const struct trace_measured *work = &measured[LOOP_WORK];
	const bool is_told_twice = work->quiet[TRACE_QUIET_FUNCTION] >= work->turns;
	const s64 inline_work = measured[LOOP_WORK_INLINE].plain - measured[LOOP_NOTHING].plain;
	s64 spread = 0;

	*out = (struct trace_found_cost){ .stretch = stretch_of(measured, slows_bytecode),
					  .spread = work->noise };
	if (is_told_twice) {
		out->call = trace_mean_cost(from_c, 2, &out->spread);
		const s64 told_twice = trace_mean_cost(direct, 4, &spread);

		trace_set_quiet_cost(TRACE_QUIET_FUNCTION, told_twice - out->call, spread);
	} else {
		/* Most calls are: those from C may be off by so much. */
		out->call = trace_mean_cost(direct, 4, &out->spread);
		for (u32 i = 0; i < 2; i++) {
			const s64 off = magnitude(from_c[i] - out->call);

			out->spread = off > out->spread ? off : out->spread;
		}
	}
	out->inside = work->inner - inline_work - slower;
	const struct trace_measured *three = &measured[LOOP_THREE];
	const s64 hits =
		(measured[LOOP_EMPTY].inner + measured[LOOP_ARGUMENT].inner + work->inner) / 3;
	const s64 direct_cost = (direct[0] + direct[1] + direct[2]) / 3;

	out->inside_miss = out->inside + three->inner / 3 - hits;
	out->call_miss = out->call + cost_of(measured, LOOP_THREE) - slower / 3 - direct_cost;
}

/* The first ones do nothing but call; the others use what they get. */
#define BUILTIN_LOOPS 4U
struct builtin_loops {
	enum loop loops[BUILTIN_LOOPS];
	u32 bare;
};

/*
 * Of a builtin's own time nothing is seen without hooks: a quarter of a bare call is taken for it.
 */
static void find_builtins(const struct trace_measured *measured, const struct builtin_loops *of,
			  const struct trace_found_cost *functions,
			  struct trace_found_cost *out)
{
	s64 values[BUILTIN_LOOPS], inner = 0, own = 0;

	*out = (struct trace_found_cost){ .stretch = PER_MILLE };
	for (u32 i = 0; i < BUILTIN_LOOPS; i++) {
		const struct trace_measured *loop = &measured[of->loops[i]];

		values[i] = cost_of(measured, of->loops[i]);
		out->spread = loop->noise > out->spread ? loop->noise : out->spread;
		if (i >= of->bare)
			continue;
		inner += loop->inner;
		own += (loop->plain - measured[LOOP_NOTHING].plain) / 4;
	}
	out->call = trace_mean_cost(values, BUILTIN_LOOPS, &out->spread);
	out->inside = (inner - own) / of->bare;
	out->inside_miss = out->inside + functions->inside_miss - functions->inside;
	out->call_miss = out->call + functions->call_miss - functions->call;
}

static void find_others(const struct trace_measured *measured)
{
	const struct trace_measured *type = &measured[LOOP_TYPE];
	const u64 events = type->turns != 0 ? type->quiet[TRACE_QUIET_OTHER] / type->turns : 0;
	const s64 added = type->added - measured[LOOP_NOTHING].added;

	if (events > 0)
		trace_set_quiet_cost(TRACE_QUIET_OTHER, added / (s64)events, type->noise);
}

static void find_all(const struct trace_measured *measured, bool slows_bytecode)
{
	static const struct builtin_loops of_functions = {
		.loops = { LOOP_LENGTH, LOOP_ABSOLUTE, LOOP_LENGTH_USED, LOOP_ABSOLUTE_USED },
		.bare = 2,
	};
	static const struct builtin_loops of_methods = {
		.loops = { LOOP_METHOD, LOOP_APPEND, LOOP_GET, LOOP_METHOD_USED },
		.bare = 3,
	};
	struct trace_found_cost functions, builtins;

	if (!has_calls(measured, LOOP_EMPTY, 1) || !has_calls(measured, LOOP_WORK, 1) ||
	    !has_calls(measured, LOOP_MAP, 1) || !has_calls(measured, LOOP_THREE, 3))
		return;
	find_functions(measured, slows_bytecode, &functions);
	trace_tell_cost(TRACE_KIND_PYTHON, &functions);
	find_others(measured);
	if (!has_calls(measured, LOOP_LENGTH, 1) || !has_calls(measured, LOOP_METHOD, 1))
		return;
	find_builtins(measured, &of_functions, &functions, &builtins);
	trace_tell_cost(TRACE_KIND_PYTHON_BUILTIN, &builtins);
	find_builtins(measured, &of_methods, &functions, &builtins);
	trace_tell_cost(TRACE_KIND_PYTHON_METHOD, &builtins);
}

void trace_calibrate_python(const struct trace_python_means *means)
{
	char source[SOURCE_MAX];
	struct trace_measured measured[LOOP_COUNT];
	struct python python = { .means = means };
	const struct trace_calibration calibration = { .context = &python,
						       .set = set_hooks,
						       .run = run_loop,
						       .turns = TURNS,
						       .depth = 2 };

	_Static_assert(sizeof definitions + LOOP_COUNT * 80 < SOURCE_MAX,
		       "there is room for all");
	if (!find_entries(&python.entries))
		return;
	write_source(source);
	if (means->set != NULL)
		means->set(means->context, false);
	if (make_copy(&python.entries, source, &python.plain) &&
	    make_copy(&python.entries, source, &python.seen) && prepare_all(&python) &&
	    trace_calibrate(&calibration, LOOP_COUNT, measured))
		find_all(measured, means->slows_bytecode);
	if (means->set != NULL)
		means->set(means->context, false);
	python.entries.PyErr_Clear();
	drop_copy(&python.entries, &python.plain);
	drop_copy(&python.entries, &python.seen);
	if (means->set != NULL)
		means->set(means->context, true);
}
