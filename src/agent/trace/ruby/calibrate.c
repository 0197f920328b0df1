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
#define PER_MILLE    1000
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

static s64 magnitude(s64 value)
{
	return value < 0 ? -value : value;
}

static s64 calls_of(const struct trace_measured *measured, enum loop loop)
{
	const struct trace_measured *own = &measured[loop];

	return own->turns != 0 ? (s64)(own->calls / own->turns) : 0;
}

/* Blocks that are reported in a turn: the loop's own, and what the callee is given. */
static s64 blocks_of(const struct trace_measured *measured, enum loop loop)
{
	const struct trace_measured *own = &measured[loop];

	return own->turns != 0 ? (s64)(own->uncounted[TRACE_UNCOUNTED_BUILTIN] / own->turns)
			       : 0;
}

/* What a turn costs that calls nothing: of a block, where these are reported. */
static s64 cost_of_nothing(const struct trace_measured *measured)
{
	return measured[LOOP_NOTHING].added - measured[LOOP_NOTHING].left_out;
}

/* What a turn of a loop costs for each of its calls. */
static s64 cost_of(const struct trace_measured *measured, enum loop loop)
{
	const struct trace_measured *own = &measured[loop];
	const s64 calls = calls_of(measured, loop);
	const s64 blocks = blocks_of(measured, loop);
	const s64 nothing = cost_of_nothing(measured) * (blocks > 1 ? blocks : 1);
	const s64 added = own->added - own->left_out - nothing;

	return calls > 0 ? added / calls : 0;
}

/* The spread covers what a loop's calls cost, and how far its rounds are from each other. */
static void cover(const struct trace_measured *measured, enum loop loop,
		  struct trace_found_cost *cost)
{
	const s64 off = magnitude(cost_of(measured, loop) - cost->call);
	const s64 calls = calls_of(measured, loop);
	const s64 noise = measured[loop].noise / (calls > 0 ? calls : 1);

	cost->spread = off > cost->spread ? off : cost->spread;
	cost->spread = noise > cost->spread ? noise : cost->spread;
}

/* The mean of some loops' costs of a call, and how far they are from it. */
static void find_call(const struct trace_measured *measured, const enum loop *of, u32 count,
		      struct trace_found_cost *out)
{
	s64 sum = 0;

	for (u32 i = 0; i < count; i++)
		sum += cost_of(measured, of[i]);
	*out = (struct trace_found_cost){ .call = sum / count, .stretch = PER_MILLE };
	for (u32 i = 0; i < count; i++)
		cover(measured, of[i], out);
}

static void find_methods(const struct trace_measured *measured, struct trace_found_cost *out)
{
	/*
	 * Methods that do something, as most do: of empty ones it may be 3 ns more or less.  Not all
	 * returns can be foretold: one in five is a tree's, which is fitted (docs/decisions/0022).
	 */
	static const enum loop of[] = { LOOP_WORK, LOOP_NESTED, LOOP_WORK, LOOP_NESTED,
					LOOP_TREE };
	const s64 work = measured[LOOP_WORK_INLINE].plain - measured[LOOP_NOTHING].plain;
	const s64 empty = measured[LOOP_EMPTY].inner;
	const s64 hits = empty + measured[LOOP_ARGUMENT].inner + measured[LOOP_WORK].inner;
	const s64 cost = cost_of(measured, LOOP_EMPTY) + cost_of(measured, LOOP_ARGUMENT) +
			 cost_of(measured, LOOP_WORK);

	find_call(measured, of, sizeof of / sizeof *of, out);
	/* Of an empty method all is the hook's. */
	out->inside = (empty + measured[LOOP_WORK].inner - work) / 2;
	out->inside_miss = out->inside + (measured[LOOP_THREE].inner - hits) / 3;
	out->call_miss = out->call + cost_of(measured, LOOP_THREE) - cost / 3;
	cover(measured, LOOP_EMPTY, out);
	cover(measured, LOOP_YIELD, out);
}

/*
 * Where recursion branches the processor cannot foretell where a call returns to, and each costs 3 to 6 ns
 * more.  Where it does not, they cost what others do: a quarter is taken off (fitted, too), and
 * the spread covers either.
 */
static void find_recursion(const struct trace_measured *measured,
			   const struct trace_found_cost *methods)
{
	const s64 more = cost_of(measured, LOOP_TREE) - methods->call;
	struct trace_found_cost found = *methods;

	found.call += more * 3 / 4;
	found.call_miss += more * 3 / 4;
	cover(measured, LOOP_TREE, &found);
	found.spread = magnitude(more) > found.spread ? magnitude(more) : found.spread;
	trace_report_cost(TRACE_KIND_RUBY_RECURSIVE, &found);
}

/*
 * Of a method in C nothing is seen without hooks: a quarter of the call is taken for its own.  The
 * last of the loops calls some in turn: they are searched for.
 */
static void find_builtins(const struct trace_measured *measured, const enum loop *of, u32 count,
			  enum loop in_turn, struct trace_found_cost *out)
{
	const struct trace_measured *turns = &measured[in_turn];
	const s64 nothing = measured[LOOP_NOTHING].plain;
	const s64 calls = calls_of(measured, in_turn);
	s64 inner = 0, own = 0;

	find_call(measured, of, count, out);
	for (u32 i = 0; i < count; i++) {
		inner += measured[of[i]].inner;
		own += (measured[of[i]].plain - nothing) / 4;
	}
	out->inside = (inner - own) / count;
	out->inside_miss = (turns->inner - (turns->plain - nothing) / 4) / calls;
	out->call_miss = cost_of(measured, in_turn);
}

/*
 * The mean of two loops that call nothing; its spread: how far they are from each other, or the
 * rounds of one.
 */
static void find_blocks(const struct trace_measured *measured)
{
	const struct trace_measured *inlined = &measured[LOOP_WORK_INLINE];
	const s64 of_nothing = cost_of_nothing(measured);
	const s64 of_work = inlined->added - inlined->left_out;
	const s64 cost = (of_nothing + of_work) / 2;
	const s64 off = magnitude(of_nothing - of_work);
	const s64 noise = measured[LOOP_NOTHING].noise;

	if (blocks_of(measured, LOOP_NOTHING) == 1)
		trace_set_uncounted_cost(TRACE_UNCOUNTED_BUILTIN, cost,
					 off > noise ? off : noise);
}

static void find_all(const struct trace_measured *measured)
{
	static const enum loop builtins_of[] = { LOOP_BYTES, LOOP_ASCII, LOOP_EQUAL };
	static const enum loop operators_of[] = { LOOP_PLUS, LOOP_LESS, LOOP_INDEX };
	struct trace_found_cost methods, builtins;

	if (calls_of(measured, LOOP_WORK) != 1 || calls_of(measured, LOOP_THREE) != 3)
		return;
	find_methods(measured, &methods);
	trace_report_cost(TRACE_KIND_RUBY, &methods);
	find_recursion(measured, &methods);
	find_blocks(measured);
	if (calls_of(measured, LOOP_BYTES) != 1 || calls_of(measured, LOOP_EQUAL) != 1 ||
	    calls_of(measured, LOOP_BYTES_ASCII) != 3)
		return;
	find_builtins(measured, builtins_of, 3, LOOP_BYTES_ASCII, &builtins);
	trace_report_cost(TRACE_KIND_RUBY_BUILTIN, &builtins);
	/* Up to 3.0 they are none, but where C calls them. */
	if (calls_of(measured, LOOP_PLUS) == 1 && calls_of(measured, LOOP_PLUS_LESS) == 3)
		find_builtins(measured, operators_of, 3, LOOP_PLUS_LESS, &builtins);
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
