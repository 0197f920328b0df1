#include "agent/trace/names.h"

#include <string.h>

#include "abi/ring.h"
#include "agent/core/codes.h"
#include "agent/core/own_ring.h"
#include "agent/core/regions.h"
#include "agent/core/walk.h"
#include "agent/interpreters/python/names.h"
#include "agent/interpreters/python/python.h"
#include "agent/interpreters/ruby/ruby.h"
#include "agent/trace/area.h"
#include "agent/trace/calls.h"
#include "agent/trace/native/images.h"
#include "agent/trace/native/native.h"
#include "agent/trace/python/greenlet.h"
#include "agent/trace/python/methods.h"
#include "agent/trace/python/profilers.h"
#include "agent/trace/python/call_kind.h"
#include "agent/trace/python/profile_function.h"
#include "agent/trace/ruby/ruby.h"
#include "agent/trace/word.h"
#include "walk/python_builtin.h"

/* A name with its line table has at most 5,000 words. */
#define NAMES_ROOM_WORDS 16384U
/* Threads that name a new callee at the same time; one with Python's GIL excludes others. */
#define SCRATCHES 8U
#define BASES_MAX 64U
/* From PyTypeObject.tp_name to tp_base: the same in every version. */
#define NAME_TO_BASE (256 - 24)
/* METH_VARARGS and METH_FASTCALL. */
#define TAKES_TUPLE 1U
#define TAKES_ARRAY 0x80U
#define PYTHON_3_13 0x030d0000U
#define PYTHON_3_15 0x030f0000U

struct name_scratch {
	struct python_scratch python;
	struct ruby_scratch ruby;
	u32 is_taken;
};

static struct name_scratch scratches[SCRATCHES];

static struct name_scratch *take_scratch(void)
{
	for (u32 i = 0; i < SCRATCHES; i++) {
		u32 is_taken = 0;

		if (__atomic_compare_exchange_n(&scratches[i].is_taken, &is_taken, 1, 0,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return &scratches[i];
	}
	return NULL;
}

static void give_scratch(struct name_scratch *scratch)
{
	__atomic_store_n(&scratch->is_taken, 0, __ATOMIC_RELEASE);
}

void trace_names_forget_others(void)
{
	for (u32 i = 0; i < SCRATCHES; i++)
		__atomic_store_n(&scratches[i].is_taken, 0, __ATOMIC_RELAXED);
}

/* Whether a type's own method table has this method. */
static bool defines(const struct python_layout *layout, u64 type, u64 method)
{
	const struct trace_method *own = trace_methods_of_type(layout, type);

	for (u32 i = 0; own != NULL && own[i].name != NULL && i < TRACE_METHODS_MAX; i++) {
		if ((u64)&own[i] == method)
			return true;
	}
	return false;
}

/* The type that defines the method: this one or one of its bases; 0: none. */
static u64 definer(const struct python_layout *layout, u64 type, u64 method)
{
	for (u32 i = 0; type != 0 && i < BASES_MAX; i++) {
		if (defines(layout, type, method))
			return type;
		type = trace_word_at(type + layout->offsets.type_name + NAME_TO_BASE);
	}
	return 0;
}

static void add_address(struct name_text *text, u64 address)
{
	static const char digits[] = "0123456789abcdef";
	int shift = 60;

	while (shift > 0 && address >> shift == 0)
		shift -= 4;
	name_text_add(text, "0x");
	for (; shift >= 0 && text->length < NAME_TEXT_MAX; shift -= 4)
		name_text_put(text, (u8)digits[address >> shift & 15]);
}

/* Appends the module's name and a dot, if the builtin has a module other than `unless`. */
static void add_module(struct mem *mem, const struct python_layout *layout,
		       const struct python_builtin *builtin, const char *unless,
		       struct name_text *out)
{
	if (builtin->module == 0)
		return;
	python_text_read(mem, layout, builtin->module, out + 1);
	if (unless != NULL && name_text_is(out + 1, unless))
		return;
	for (u32 i = 0; i < out[1].length && out->length < NAME_TEXT_MAX; i++)
		name_text_put(out, out[1].bytes[i]);
	name_text_add(out, ".");
}

/* Whether a builtin has no self object: Cython's functions before Cython 3. */
static bool has_no_self(const struct python_layout *layout, const struct trace_call *call)
{
	return trace_word_at(call->named + layout->offsets.object_type) !=
		       layout->descriptor_type &&
	       trace_word_at(call->named + layout->offsets.builtin_self) == 0;
}

/*
 * Appends a method as its descriptor's repr() has it: from 3.15 on without the type if that is
 * object, the only type without a base.
 */
static void add_method(struct mem *mem, const struct python_layout *layout,
		       const struct python_builtin *builtin, struct name_text *out)
{
	u64 type_name = 0, base = 0;

	python_read(mem, &type_name, builtin->type, layout->offsets.type_name);
	python_read(mem, &base, builtin->type, layout->offsets.type_name + NAME_TO_BASE);
	name_text_add(out, "<method '");
	name_text_append_string(mem, builtin->name, out);
	if (layout->version < PYTHON_3_15 || base != 0) {
		name_text_add(out, "' of '");
		name_text_append_string(mem, type_name, out);
		name_text_add(out, "' objects>");
	} else {
		name_text_add(out, "'>");
	}
}

/* A builtin as cProfile names it: normalizeUserObj() in Modules/_lsprof.c. */
static void add_plain_name(struct mem *mem, const struct python_layout *layout,
			   const struct trace_call *call, const struct python_builtin *builtin,
			   bool is_method, struct name_text *out)
{
	out->length = 0;
	out->is_cut = 0;
	if (has_no_self(layout, call)) {
		name_text_add(out, "<");
		add_module(mem, layout, builtin, "builtins", out);
		name_text_append_string(mem, builtin->name, out);
		name_text_add(out, ">");
		return;
	}
	if (is_method) {
		add_method(mem, layout, builtin, out);
		return;
	}
	name_text_add(out, "<built-in method ");
	add_module(mem, layout, builtin, NULL, out);
	name_text_append_string(mem, builtin->name, out);
	/* __new__ is the same function for all types, found in type's own methods. */
	if (builtin->module == 0 && strcmp((const char *)builtin->name, "__new__") == 0) {
		name_text_add(out, " of type object at ");
		add_address(out, layout->type_type);
	}
	name_text_add(out, ">");
}

/* Reads the builtin that is called.  True: it is a method of a type's objects. */
static bool read_builtin(struct mem *mem, const struct python_layout *layout,
			 const struct trace_call *call, struct python_builtin *out_builtin)
{
	u64 type = 0, self = 0;

	*out_builtin = (struct python_builtin){ .name = trace_word_at(call->object),
						.function = trace_word_at(call->object + 8) };
	python_read(mem, &type, call->named, layout->offsets.object_type);
	if (type == layout->descriptor_type) {
		python_read(mem, &out_builtin->type, call->named,
			    layout->offsets.descriptor_type);
		return true;
	}
	python_read(mem, &self, call->named, layout->offsets.builtin_self);
	python_builtin_bound(mem, layout, call->named, out_builtin);
	if (out_builtin->module != 0 || out_builtin->type == 0)
		return false;
	python_read(mem, &type, self, layout->offsets.object_type);
	const u64 owner = definer(layout, type, call->object);

	if (owner != 0)
		out_builtin->type = owner;
	return owner != 0;
}

/*
 * Builtins with any number of arguments are called in another way than those with one or none.  Up
 * to 3.12 most of them also have specialised call instructions, but not those that take a tuple.
 * From 3.13 on isinstance() has an instruction of its own.
 */
static bool takes_many(const struct python_layout *layout, u64 method)
{
	const u32 flags = (u32)((const struct trace_method *)method)->flags;

	if (layout->version < PYTHON_3_13)
		return (flags & (TAKES_TUPLE | TAKES_ARRAY)) == TAKES_TUPLE;
	return (flags & (TAKES_TUPLE | TAKES_ARRAY)) != 0 &&
	       strcmp((const char *)trace_word_at(method), "isinstance") != 0;
}

enum trace_kind trace_kind_of(const struct trace_call *call, const struct trace_entry *caller)
{
	struct mem mem = { .stack_low = 0, .stack_high = ~0ULL };
	struct python_builtin builtin;

	if (call->kind == TRACE_KIND_PYTHON_BUILTIN) {
		const bool is_method = read_builtin(&mem, trace_layout(), call, &builtin);

		if (takes_many(trace_layout(), call->object))
			return is_method ? TRACE_KIND_PYTHON_METHOD_MANY
					 : TRACE_KIND_PYTHON_BUILTIN_MANY;
		return is_method ? TRACE_KIND_PYTHON_METHOD : TRACE_KIND_PYTHON_BUILTIN;
	}
	if (call->kind == TRACE_KIND_RUBY_BUILTIN && trace_ruby_is_operator(call))
		return TRACE_KIND_RUBY_OPERATOR;
	if (call->kind == TRACE_KIND_PYTHON)
		return trace_call_kind_of(call, caller);
	return call->kind;
}

/* Up to 3.11 profilers and new interpreters are noticed by the builtins that start them. */
static void look_for_news(const struct python_layout *layout, u64 method,
			  const struct name_text *qualified)
{
	if (layout->chain <= PYTHON_CHAIN_ENTRY_FLAG && trace_python_is_by_function())
		trace_profilers_meet(method, qualified);
}

static u64 name_builtin(struct walk *walk, struct mem *mem, const struct trace_call *call)
{
	struct python_scratch *scratch = walk->python;
	struct python_builtin builtin;
	const bool is_method = read_builtin(mem, scratch->layout, call, &builtin);
	const u64 key = python_builtin_key(mem, scratch->layout, &builtin);
	const struct code code = {
		.key = key,
		.kind = RING_CODE_PYTHON_BUILTIN,
		.name = &scratch->texts[0],
		.qualified = &scratch->texts[1],
		.file = &scratch->texts[2],
	};

	if (codes_has_sent(key, walk->epoch))
		return key;
	/* texts[1] is scratch for the first text before it gets its own. */
	add_plain_name(mem, scratch->layout, call, &builtin, is_method, &scratch->texts[0]);
	python_builtin_texts(mem, scratch->layout, &builtin, &scratch->texts[2],
			     &scratch->texts[1]);
	if (scratch->texts[1].length == 0)
		name_text_append_string(mem, builtin.name, &scratch->texts[1]);
	scratch->texts[2].length = 0;
	scratch->texts[2].is_cut = 0;
	look_for_news(scratch->layout, call->object, &scratch->texts[1]);
	return codes_send(walk->ring, walk->epoch, mem, &code) ? key : 0;
}

static u64 name_callee(struct walk *walk, struct mem *mem, const struct trace_call *call)
{
	switch (call->kind) {
	case TRACE_KIND_PYTHON:
	case TRACE_KIND_PYTHON_UNCALLED:
	case TRACE_KIND_PYTHON_RESUMED:
		trace_greenlet_look();
		if (walk->python->layout->chain <= PYTHON_CHAIN_ENTRY_FLAG) {
			trace_profilers_look();
			trace_python_calibrate();
		}
		return python_name_code(walk, mem, call->object);
	case TRACE_KIND_PYTHON_BUILTIN:
	case TRACE_KIND_PYTHON_METHOD:
	case TRACE_KIND_PYTHON_BUILTIN_MANY:
	case TRACE_KIND_PYTHON_METHOD_MANY:
		trace_greenlet_look();
		return name_builtin(walk, mem, call);
	case TRACE_KIND_REGION:
		return regions_name(walk, (const struct region_name *)call->named);
	case TRACE_KIND_RUBY:
	case TRACE_KIND_RUBY_BUILTIN:
	case TRACE_KIND_RUBY_OPERATOR:
		return trace_ruby_name(walk, mem, call);
	case TRACE_KIND_INSTRUMENTED:
	case TRACE_KIND_MCOUNT:
	case TRACE_KIND_FENTRY:
		/* Named by their addresses in trace_name_of(). */
	case TRACE_KIND_OUTSIDE:
	case TRACE_KIND_COUNT:
		break;
	}
	return 0;
}

static u64 name_interpreted(const struct trace_call *call)
{
	struct name_scratch *scratch = take_scratch();
	struct ring_header *ring = trace_area_ring();
	/* The callee is being called, so its objects stay where they are. */
	struct mem mem = { .stack_low = 0, .stack_high = ~0ULL };
	struct walk walk = { .ring = ring,
			     .epoch = __atomic_load_n(&ring->epoch, __ATOMIC_RELAXED) };

	if (scratch == NULL)
		return 0;
	walk.python = &scratch->python;
	walk.ruby = &scratch->ruby;
	scratch->python.layout = trace_layout();
	scratch->ruby.layout = trace_ruby_layout();
	__builtin_memset(scratch->python.memo, 0, sizeof scratch->python.memo);
	const u64 key = name_callee(&walk, &mem, call);

	give_scratch(scratch);
	return walk.is_lost ? 0 : key;
}

u64 trace_name_of(const struct trace_call *call)
{
	if (!trace_native_is(call->kind))
		return name_interpreted(call);
	trace_images_report(trace_area_ring(), call->object);
	return trace_native_place(call->object, call->kind);
}

bool trace_names_have_room(void)
{
	return ring_has_room(trace_area_ring(), own_ring.terms.word_count, NAMES_ROOM_WORDS);
}
