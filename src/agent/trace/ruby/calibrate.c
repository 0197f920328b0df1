/*
 * Calibration of Ruby's hooks, by loops that call methods of unreachable objects.
 *
 * Code that once had hooks stays slower.  So all loops are run without hooks first; then hooks are
 * added, and a second copy is compiled and run: from 3.1 on operators are calls then.  The called
 * builtins are written in C in every version; those that Ruby defines in Ruby do not exist yet.
 *
 * No constant, global, class or symbol is created: all names are core methods', even those of
 * local variables.  Each loop is called through a Proc, as rb_funcallv() would leave its callee
 * in a cache of the VM.  What remains is garbage: objects, arrays and compiled code.
 */
#include <stddef.h>

#include "agent/core/blocked.h"
#include "agent/trace/calibrate.h"
#include "agent/trace/ruby/ruby.h"

#define TURNS      100U
#define TURNS_TEXT "100"
#define SOURCE_MAX 8192U

/*
 * Each loop: its own time (struct trace_loop), the block's elements, and the block's body.
 * Array#each is written in C, so between two turns no callee but the loop's own is called.
 */
#define LOOP_MAP(X)                                                          \
	X(NOTHING, NOTHING, 0, "1", "")                                      \
	X(WORK_INLINE, NOTHING, 0, "1", "count=size;size=count;count=size;") \
	X(EMPTY, NOTHING, 0, "1", "first()")                                 \
	X(ARGUMENT, NOTHING, 0, "1", "last(size)")                           \
	X(WORK, WORK_INLINE, 1000, "1", "sum(size)")                         \
	X(NESTED, NOTHING, 0, "1", "min()")                                  \
	X(TREE, NOTHING, 0, "1", "take(1,1,1)")                              \
	X(BYTES, BYTES, 250, "''", "size.bytesize")                          \
	X(ASCII, ASCII, 250, "''", "size.ascii_only?")                       \
	X(EQUAL, EQUAL, 250, "1", "equal?(size)")                            \
	X(PLUS, PLUS, 250, "1", "count=size+1;")                             \
	X(LESS, LESS, 250, "1", "count=size<1;")                             \
	X(INDEX, INDEX, 250, "[1]", "count=size[0];")

enum loop {
#define X(name, like, permille, element, body) LOOP_##name,
	LOOP_MAP(X)
#undef X
		LOOP_COUNT,
};

static const struct trace_loop own_parts[] = {
#define X(name, like, permille, element, body) { LOOP_##like, (permille) },
	LOOP_MAP(X)
#undef X
};
static const struct {
	const char *element, *body;
} loops[] = {
#define X(name, like, permille, element, body) { element, body },
	LOOP_MAP(X)
#undef X
};

/*
 * A processor cannot predict all returns, such as those of a tree: one call of five is of that
 * sort, a fitted proportion (docs/decisions/0022).
 */
static const struct trace_rule methods_of = {
	.kind = TRACE_KIND_RUBY,
	.count = 5,
	.own_count = 3,
	.loops = { LOOP_EMPTY, LOOP_ARGUMENT, LOOP_WORK, LOOP_NESTED, LOOP_TREE },
};
static const struct trace_rule builtins_of = {
	.kind = TRACE_KIND_RUBY_BUILTIN,
	.count = 3,
	.own_count = 3,
	.loops = { LOOP_BYTES, LOOP_ASCII, LOOP_EQUAL },
};
static const struct trace_rule operators_of = {
	.kind = TRACE_KIND_RUBY_OPERATOR,
	.count = 3,
	.own_count = 3,
	.loops = { LOOP_PLUS, LOOP_LESS, LOOP_INDEX },
};

/* The methods of each loop's object. */
static const char callees[] = "Object.new.instance_eval{"
			      "def first;end\n"
			      "def last(size)size;end\n"
			      "def sum(size)count=size;size=count;count=size;count;end\n"
			      "def min;first();end\n"
			      "def take(first=nil,last=nil,min=nil)"
			      "first&&(take(last,min);take(min));end\n"
			      "def call;([";

typedef u64 eval_function(const char *source, int *out_state);
typedef void set_error_function(u64 error);
typedef u64 entry_function(u64 array, long index);
typedef u64 call_function(u64 proc, int count, const u64 *arguments, u64 block);
typedef u64 protect_function(u64 (*function)(u64 argument), u64 argument, int *out_state);

struct ruby_api {
	eval_function *eval;
	set_error_function *set_error;
	entry_function *entry;
	trace_ruby_intern *intern;
	call_function *call;
	protect_function *protect;
};

struct ruby {
	struct ruby_api api;
	u64 context, nil;
	u64 procs; /* an array; on our stack, where the collector finds it */
	u64 loop;  /* the Proc that is being run */
	void (*add_hooks)(void);
	bool has_hooks;
};

static bool find_api(struct ruby_api *api)
{
	const struct ruby_functions *functions = &trace_ruby_layout()->functions;

	api->eval = (eval_function *)functions->eval_string_protect;
	api->set_error = (set_error_function *)functions->set_errinfo;
	api->entry = (entry_function *)functions->ary_entry;
	api->intern = (trace_ruby_intern *)functions->intern;
	api->call = (call_function *)functions->proc_call_with_block;
	api->protect = (protect_function *)functions->protect;
	return api->eval != NULL && api->set_error != NULL && api->entry != NULL &&
	       api->intern != NULL && api->call != NULL && api->protect != NULL;
}

static char *put(char *at, const char *text)
{
	while (*text != '\0')
		*at++ = *text++;
	return at;
}

static void write_source(char *source)
{
	char *at = put(source, "[");

	for (u32 loop = 0; loop < LOOP_COUNT; loop++) {
		at = put(at, callees);
		at = put(at, loops[loop].element);
		at = put(at, "]*" TURNS_TEXT ").each{|size|count=nil;");
		at = put(at, loops[loop].body);
		at = put(at, ";count}end\nproc{call()}},");
	}
	at = put(at, "]");
	*at = '\0';
}

static bool make_copy(struct ruby *ruby)
{
	static char source[SOURCE_MAX];
	int state = 0;

	write_source(source);
	ruby->procs = ruby->api.eval(source, &state);
	return state == 0;
}

static u64 call_loop(u64 argument)
{
	const struct ruby *ruby = (const struct ruby *)argument;

	return ruby->api.call(ruby->loop, 0, NULL, ruby->nil);
}

static bool run_loop(void *context, u32 loop, bool has_hooks)
{
	struct ruby *ruby = context;
	int state = 0;

	(void)has_hooks;
	ruby->loop = ruby->api.entry(ruby->procs, loop);
	ruby->api.protect(call_loop, (u64)ruby, &state);
	return state == 0;
}

/* Adds the hooks, for good, and compiles a copy to be run with them. */
static bool set_hooks(void *context, bool has_hooks)
{
	struct ruby *ruby = context;

	(void)has_hooks;
	/* The separate area's stack is now this context's (trace_ruby_switch()). */
	trace_ruby_context = ruby->context;
	ruby->has_hooks = true;
	ruby->add_hooks();
	return make_copy(ruby);
}

/*
 * The cost of blocks that are reported, but not wanted: the mean of two loops that call nothing.
 * Its spread is their difference, or the noise of one.
 */
static void report_blocks(const struct trace_measured *measured)
{
	const struct trace_measured *nothing = &measured[LOOP_NOTHING];
	const s64 of_work = measured[LOOP_WORK_INLINE].added;
	const s64 off =
		nothing->added > of_work ? nothing->added - of_work : of_work - nothing->added;
	const struct trace_cost cost = trace_uncounted_cost(
		(nothing->added + of_work) / 2, off > nothing->noise ? off : nothing->noise);

	if (nothing->uncounted[TRACE_UNCOUNTED_BUILTIN] == 1)
		trace_report_cost(TRACE_KIND_COUNT + TRACE_UNCOUNTED_BUILTIN, &cost);
}

static void report(const struct trace_calibration *calibration,
		   const struct trace_measured *measured)
{
	struct trace_cost cost;

	if (!trace_find_cost(calibration, measured, &methods_of, NULL, &cost))
		return;
	trace_report_cost(TRACE_KIND_RUBY, &cost);
	report_blocks(measured);
	if (!trace_find_cost(calibration, measured, &builtins_of, NULL, &cost))
		return;
	trace_report_cost(TRACE_KIND_RUBY_BUILTIN, &cost);
	/* Up to 3.0 only C calls operators: they cost what other builtins do. */
	trace_find_cost(calibration, measured, &operators_of, NULL, &cost);
	trace_report_cost(TRACE_KIND_RUBY_OPERATOR, &cost);
}

bool trace_calibrate_ruby(u64 context, void (*add_hooks)(void))
{
	struct trace_measured measured[LOOP_COUNT];
	struct ruby ruby = { .context = context,
			     .nil = trace_ruby_layout()->nil,
			     .add_hooks = add_hooks };
	const struct trace_calibration calibration = {
		.context = &ruby,
		.run = run_loop,
		.set = set_hooks,
		.stays_on = true,
		.turns = TURNS,
		/* Below the Proc's block, the loop, Array#each and its block, if counted. */
		.depth = 2U + trace_ruby.has_builtins + 2U * trace_ruby.has_blocks,
		.loops = own_parts,
		.count = LOOP_COUNT,
	};

	if (!find_api(&ruby.api))
		return false;
	/* A signal could make Ruby raise an exception here, which the program must get. */
	const u64 before = blocked_begin();

	trace_ruby_find_operators(ruby.api.intern);
	if (make_copy(&ruby) && trace_calibrate(&calibration, measured))
		report(&calibration, measured);
	else
		ruby.api.set_error(ruby.nil);
	trace_ruby_context = 0;
	blocked_end(before);
	return ruby.has_hooks;
}
