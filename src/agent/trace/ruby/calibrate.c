/*
 * Loops of Ruby that call one thing each: methods of objects that no other code knows of.
 *
 * What has had hooks once is slower from then on, so all loops are run without them first, and
 * then a second copy with them, compiled when they are there: from 3.1 on operators are calls
 * then.  Methods in C are called that are so in every version: those that Ruby has in Ruby are
 * not there yet.
 *
 * No constant, global, class or symbol is made: the names are core methods', even those of local
 * variables.  Each loop is called by a Proc, for rb_funcallv() would keep what it called in a cache
 * of the VM's.  What is left is garbage: objects, arrays and compiled code.
 */
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "agent/core/arch.h"
#include "agent/trace/calibrate.h"
#include "agent/trace/calls.h"
#include "agent/trace/ruby/ruby.h"

#define TURNS        100U
#define TURNS_TEXT   "100"
#define SOURCE_MAX   8192U
#define SIGSET_BYTES 8

/*
 * What a block is given, and does.  Array#each is in C: between two turns no other callee is called
 * than the loop's own.
 */
#define LOOP_MAP(X)                                                              \
	X(NOTHING, "1", "")                                                      \
	X(WORK_INLINE, "1", "count=size;size=count;count=size;")                 \
	X(EMPTY, "1", "first()")                                                 \
	X(ARGUMENT, "1", "last(size)")                                           \
	X(WORK, "1", "sum(size)")                                                \
	X(NESTED, "1", "min()")                                                  \
	X(TREE, "1", "take(1,1,1)")                                              \
	X(THREE, "1", "first();last(size);sum(size)")                            \
	X(YIELD, "1", "max{}")                                                   \
	X(BYTES, "''", "size.bytesize")                                          \
	X(ASCII, "''", "size.ascii_only?")                                       \
	X(EQUAL, "1", "equal?(size)")                                            \
	X(PLUS, "1", "count=size+1;")                                            \
	X(LESS, "1", "count=size<1;")                                            \
	X(INDEX, "[1]", "count=size[0];")                                        \
	X(BYTES_ASCII, "''", "size.bytesize;size.ascii_only?;size.equal?(size)") \
	X(PLUS_LESS, "1", "count=size+1;count=size<1;count=size-1;")

enum loop {
#define X(name, element, body) LOOP_##name,
	LOOP_MAP(X)
#undef X
		LOOP_COUNT,
};

static const struct {
	const char *element, *body;
} loops[] = {
#define X(name, element, body) { element, body },
	LOOP_MAP(X)
#undef X
};

/* Of each loop's object. */
static const char callees[] = "Object.new.instance_eval{"
			      "def first;end\n"
			      "def last(size)size;end\n"
			      "def sum(size)count=size;size=count;count=size;count;end\n"
			      "def min;first();end\n"
			      "def max;yield;end\n"
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
	u64 procs; /* an array: on a stack, where collections look for it */
	u64 loop;  /* the one that is being run */
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

static bool begin_hooks(void *context)
{
	struct ruby *ruby = context;

	/* What is called meanwhile is not the thread's own (trace_ruby_switch()). */
	trace_ruby_context = ruby->context;
	ruby->has_hooks = true;
	ruby->add_hooks();
	return make_copy(ruby);
}

/* Blocks that are reported in a turn of nothing. */
static bool reports_blocks(const struct trace_measured *measured)
{
	const struct trace_measured *own = &measured[LOOP_NOTHING];

	return own->turns != 0 && own->uncounted[TRACE_UNCOUNTED_BUILTIN] / own->turns == 1;
}

static void find_methods(const struct trace_measured *measured, struct trace_found_cost *out)
{
	/*
	 * Methods that do something, as most do: of empty ones it may be 3 ns more or less.  Not all
	 * returns can be foretold: one in five is a tree's, which is fitted (docs/decisions/0022).
	 */
	static const u8 of[] = { LOOP_WORK, LOOP_NESTED, LOOP_WORK, LOOP_NESTED, LOOP_TREE };
	const s64 work = measured[LOOP_WORK_INLINE].plain - measured[LOOP_NOTHING].plain;
	const s64 empty = measured[LOOP_EMPTY].inner;
	const s64 hits = empty + measured[LOOP_ARGUMENT].inner + measured[LOOP_WORK].inner;
	const s64 cost = trace_cost_of_call(measured, LOOP_EMPTY) +
			 trace_cost_of_call(measured, LOOP_ARGUMENT) +
			 trace_cost_of_call(measured, LOOP_WORK);

	*out = trace_find_call(measured, of, sizeof of / sizeof *of);
	/* Of an empty method all is the hook's. */
	out->inside = (empty + measured[LOOP_WORK].inner - work) / 2;
	out->inside_miss = out->inside + (measured[LOOP_THREE].inner - hits) / 3;
	out->call_miss = out->call + trace_cost_of_call(measured, LOOP_THREE) - cost / 3;
	trace_cover_loop(measured, LOOP_EMPTY, out);
	trace_cover_loop(measured, LOOP_YIELD, out);
}

/*
 * Where recursion branches the processor cannot foretell where a call returns to, and each costs 3 to 6 ns
 * more.  Where it does not, they cost what others do: a quarter is taken off (fitted, too), and
 * the spread covers either.
 */
static void find_recursion(const struct trace_measured *measured,
			   const struct trace_found_cost *methods)
{
	const s64 more = trace_cost_of_call(measured, LOOP_TREE) - methods->call;
	struct trace_found_cost found = *methods;

	found.call += more * 3 / 4;
	found.call_miss += more * 3 / 4;
	trace_cover_loop(measured, LOOP_TREE, &found);
	found.spread = more > found.spread ? more : found.spread;
	trace_report_cost(TRACE_KIND_RUBY_RECURSIVE, &found);
}

/*
 * The mean of two loops that call nothing; its spread: how far they are from each other, or the
 * rounds of one.
 */
static void find_blocks(const struct trace_measured *measured)
{
	const struct trace_measured *inlined = &measured[LOOP_WORK_INLINE];
	const struct trace_measured *nothing = &measured[LOOP_NOTHING];
	const s64 of_nothing = nothing->added - nothing->left_out;
	const s64 of_work = inlined->added - inlined->left_out;
	const s64 off = of_nothing > of_work ? of_nothing - of_work : of_work - of_nothing;

	if (reports_blocks(measured))
		trace_set_uncounted_cost(TRACE_UNCOUNTED_BUILTIN, (of_nothing + of_work) / 2,
					 off > nothing->noise ? off : nothing->noise);
}

static void find_all(const struct trace_measured *measured)
{
	static const struct trace_builtin_loops builtins_of = {
		{ LOOP_BYTES, LOOP_ASCII, LOOP_EQUAL }, 3, 3, LOOP_BYTES_ASCII
	};
	static const struct trace_builtin_loops operators_of = {
		{ LOOP_PLUS, LOOP_LESS, LOOP_INDEX }, 3, 3, LOOP_PLUS_LESS
	};
	struct trace_found_cost methods, builtins;

	if (trace_calls_of_loop(measured, LOOP_WORK) != 1 ||
	    trace_calls_of_loop(measured, LOOP_THREE) != 3)
		return;
	find_methods(measured, &methods);
	trace_report_cost(TRACE_KIND_RUBY, &methods);
	find_recursion(measured, &methods);
	find_blocks(measured);
	if (trace_calls_of_loop(measured, LOOP_BYTES) != 1 ||
	    trace_calls_of_loop(measured, LOOP_EQUAL) != 1 ||
	    trace_calls_of_loop(measured, LOOP_BYTES_ASCII) != 3)
		return;
	builtins = trace_find_builtins(measured, &builtins_of);
	trace_report_cost(TRACE_KIND_RUBY_BUILTIN, &builtins);
	/* Up to 3.0 they are none, but where C calls them. */
	if (trace_calls_of_loop(measured, LOOP_PLUS) == 1 &&
	    trace_calls_of_loop(measured, LOOP_PLUS_LESS) == 3)
		builtins = trace_find_builtins(measured, &operators_of);
	trace_report_cost(TRACE_KIND_RUBY_OPERATOR, &builtins);
}

/* A signal's handler of Ruby's has it raise an exception, which is the program's. */
static void block_signals(u64 *out_before)
{
	const u64 all = ~0ULL;

	arch_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)out_before,
		      SIGSET_BYTES);
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
		.begin = begin_hooks,
		.turns = TURNS,
		/* In a block, the loop, Array#each and its block, as far as these are counted. */
		.depth = 2U + trace_ruby.has_builtins + 2U * trace_ruby.has_blocks,
	};
	u64 before = 0;

	if (!find_api(&ruby.api))
		return false;
	block_signals(&before);
	trace_ruby_find_operators(ruby.api.intern);
	if (make_copy(&ruby) && trace_calibrate(&calibration, LOOP_COUNT, measured))
		find_all(measured);
	else
		ruby.api.set_error(ruby.nil);
	trace_ruby_context = 0;
	arch_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, SIGSET_BYTES);
	return ruby.has_hooks;
}
