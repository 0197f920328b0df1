/*
 * What loops of Python took with hooks and without them, to what a call of each kind costs.
 */
#include "agent/trace/calibrate.h"
#include "agent/trace/python/calibrate.h"

#define PER_MILLE    1000
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* How many times longer bytecode takes. */
static u32 stretch_of(const struct trace_measured *measured, bool slows_bytecode)
{
	const struct trace_measured *work = &measured[LOOP_WORK_INLINE];
	const s64 stretch = work->plain > 0 ? work->added * PER_MILLE / work->plain : 0;

	/* What is executed besides bytecode, in C, takes no longer: a quarter or so of it. */
	return slows_bytecode && stretch > 0 ? (u32)(PER_MILLE + stretch * 3 / 4) : PER_MILLE;
}

static s64 least(s64 a, s64 b)
{
	return a < b ? a : b;
}

/*
 * What hooks saw of a function's work, less the same inlined: but no more than they saw of functions
 * that have none, for theirs is not less than nothing.
 */
static s64 inside_of(const struct trace_measured *measured, s64 slower)
{
	const s64 inlined = measured[LOOP_WORK_INLINE].plain - measured[LOOP_NOTHING].plain;

	return least(measured[LOOP_WORK].inner - inlined - slower,
		     least(measured[LOOP_EMPTY].inner, measured[LOOP_ARGUMENT].inner));
}

/* Of functions that C executes, or an instruction that is no call. */
static struct trace_found_cost find_uncalled_call(const struct trace_measured *measured)
{
	static const u8 loops[] = { LOOP_MAP, LOOP_SORTED };

	return trace_find_call(measured, loops, COUNT(loops));
}

/* By how much a call costs more, or less, if its node is searched for. */
struct misses {
	s64 inside, call;
};

/* Three callees in turn, each of which has a loop of its own, too. */
static struct misses misses_of_functions(const struct trace_measured *measured)
{
	static const u8 hits[] = { LOOP_EMPTY, LOOP_ARGUMENT, LOOP_WORK };
	s64 inner = measured[LOOP_THREE].inner;
	s64 cost = trace_cost_of_call(measured, LOOP_THREE) * 3;

	for (u32 i = 0; i < COUNT(hits); i++) {
		inner -= measured[hits[i]].inner;
		cost -= trace_cost_of_call(measured, hits[i]);
	}
	return (struct misses){ inner / 3, cost / 3 };
}

static void add_misses(struct misses misses, struct trace_found_cost *out)
{
	out->inside_miss = out->inside + misses.inside;
	out->call_miss = out->call + misses.call;
}

/* Of functions that an instruction calls: they may be reported twice. */
static void find_functions(const struct trace_measured *measured, bool slows_bytecode,
			   struct trace_found_cost *out)
{
	static const u8 loops[] = { LOOP_ARGUMENT, LOOP_RECURSION, LOOP_ADD, LOOP_NESTED,
				    LOOP_WORK };
	/* What the work in it takes longer is no cost of its call. */
	const s64 slower =
		slows_bytecode ? measured[LOOP_WORK_INLINE].added - measured[LOOP_NOTHING].added
			       : 0;
	const struct trace_measured *work = &measured[LOOP_WORK];
	const bool is_reported_twice = work->uncounted[TRACE_UNCOUNTED_FUNCTION] >= work->turns;

	*out = trace_find_call(measured, loops,
			       slows_bytecode ? COUNT(loops) - 1 : COUNT(loops));
	if (is_reported_twice) {
		const struct trace_found_cost twice = *out;

		*out = find_uncalled_call(measured);
		trace_set_uncounted_cost(TRACE_UNCOUNTED_FUNCTION, twice.call - out->call,
					 twice.spread);
	}
	out->stretch = stretch_of(measured, slows_bytecode);
	out->inside = inside_of(measured, slower);
	add_misses(misses_of_functions(measured), out);
}

/* The function is one that is also called by an instruction. */
static struct trace_found_cost find_uncalled(const struct trace_measured *measured,
					     const struct trace_found_cost *functions)
{
	struct trace_found_cost found = find_uncalled_call(measured);

	found.stretch = functions->stretch;
	found.inside =
		functions->inside + measured[LOOP_MAP].inner - measured[LOOP_ARGUMENT].inner;
	add_misses(misses_of_functions(measured), &found);
	return found;
}

/* What a generator does itself is what a loop of nothing does. */
static struct trace_found_cost find_resumed(const struct trace_measured *measured,
					    const struct trace_found_cost *functions)
{
	static const u8 loops[] = { LOOP_GENERATOR, LOOP_DELEGATED, LOOP_SUM };
	struct trace_found_cost found = trace_find_call(measured, loops, COUNT(loops));

	found.stretch = functions->stretch;
	found.inside = measured[LOOP_GENERATOR].inner - measured[LOOP_NOTHING].plain;
	add_misses(misses_of_functions(measured), &found);
	return found;
}

/*
 * Of those of any number of arguments.  Most of such a call is the builtin's own: the part inside
 * is taken for the same as of others.
 */
static struct trace_found_cost find_many(const struct trace_measured *measured, const u8 *loops,
					 u32 count, const struct trace_found_cost *others)
{
	struct trace_found_cost found = trace_find_call(measured, loops, count);

	found.inside = others->call > 0 ? others->inside * found.call / others->call : 0;
	add_misses((struct misses){ others->inside_miss - others->inside,
				    others->call_miss - others->call },
		   &found);
	return found;
}

static void report_builtins(const struct trace_measured *measured)
{
	static const struct trace_builtin_loops of_functions = {
		.loops = { LOOP_LENGTH, LOOP_ABSOLUTE, LOOP_LENGTH_USED, LOOP_ABSOLUTE_USED,
			   LOOP_ORDINAL_USED },
		.count = 5,
		.bare = 2,
		.in_turn = LOOP_TWO,
	};
	static const struct trace_builtin_loops of_methods = {
		.loops = { LOOP_METHOD, LOOP_APPEND, LOOP_GET, LOOP_METHOD_USED },
		.count = 4,
		.bare = 3,
		.in_turn = LOOP_TWO_METHODS,
	};
	static const u8 many[] = { LOOP_MAXIMUM, LOOP_MAXIMUM_USED };
	static const u8 many_methods[] = { LOOP_STARTS, LOOP_FIND_USED };
	struct trace_found_cost found, found_many;

	found = trace_find_builtins(measured, &of_functions);
	trace_report_cost(TRACE_KIND_PYTHON_BUILTIN, &found);
	found_many = find_many(measured, many, COUNT(many), &found);
	trace_report_cost(TRACE_KIND_PYTHON_BUILTIN_MANY, &found_many);
	found = trace_find_builtins(measured, &of_methods);
	trace_report_cost(TRACE_KIND_PYTHON_METHOD, &found);
	found_many = find_many(measured, many_methods, COUNT(many_methods), &found);
	trace_report_cost(TRACE_KIND_PYTHON_METHOD_MANY, &found_many);
}

static void report_others(const struct trace_measured *measured)
{
	const struct trace_measured *type = &measured[LOOP_TYPE];
	const u64 events =
		type->turns != 0 ? type->uncounted[TRACE_UNCOUNTED_OTHER] / type->turns : 0;
	const s64 added = type->added - measured[LOOP_NOTHING].added;

	if (events > 0)
		trace_set_uncounted_cost(TRACE_UNCOUNTED_OTHER, added / (s64)events,
					 type->noise);
}

/* Whether each of these loops' calls was counted. */
static bool have_calls(const struct trace_measured *measured, const u8 *loops, u32 count)
{
	for (u32 i = 0; i < count; i++) {
		if (measured[loops[i]].calls < measured[loops[i]].turns)
			return false;
	}
	return true;
}

void trace_calibrate_python_report(const struct trace_measured *measured, bool slows_bytecode)
{
	static const u8 of_functions[] = { LOOP_EMPTY, LOOP_WORK,   LOOP_THREE,
					   LOOP_MAP,   LOOP_SORTED, LOOP_GENERATOR };
	static const u8 of_builtins[] = { LOOP_LENGTH, LOOP_METHOD, LOOP_MAXIMUM, LOOP_STARTS };
	struct trace_found_cost functions, found;

	if (!have_calls(measured, of_functions, COUNT(of_functions)))
		return;
	find_functions(measured, slows_bytecode, &functions);
	trace_report_cost(TRACE_KIND_PYTHON, &functions);
	found = find_uncalled(measured, &functions);
	trace_report_cost(TRACE_KIND_PYTHON_UNCALLED, &found);
	found = find_resumed(measured, &functions);
	trace_report_cost(TRACE_KIND_PYTHON_RESUMED, &found);
	report_others(measured);
	if (have_calls(measured, of_builtins, COUNT(of_builtins)))
		report_builtins(measured);
}
