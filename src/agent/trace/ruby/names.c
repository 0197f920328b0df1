/* names - names of traced Ruby methods; which methods are operators that have an instruction. */
#include "agent/core/walk.h"
#include "agent/interpreters/ruby/names.h"
#include "agent/interpreters/ruby/ruby.h"
#include "agent/trace/calls.h"
#include "agent/trace/native/native.h"
#include "agent/trace/ruby/ruby.h"
#include "walk/name_text.h"
#include "walk/ruby.h"
#include "walk/ruby_code.h"

/* Operators that have instructions (vm_insnhelper.c, opt_plus and so on). */
static const char *const operator_names[] = {
	"+", "-", "*",  "/",   "%",      "==",   "!=",     "<",    "<=",   ">", ">=", "<<",
	"&", "|", "[]", "[]=", "length", "size", "empty?", "succ", "nil?", "!", "=~"
};
#define OPERATOR_COUNT (sizeof operator_names / sizeof *operator_names)
static u64 operator_ids[OPERATOR_COUNT];

void trace_ruby_find_operators(trace_ruby_intern *intern)
{
	for (u32 i = 0; i < OPERATOR_COUNT; i++)
		operator_ids[i] = intern(operator_names[i]);
}

bool trace_ruby_is_operator(const struct trace_call *call)
{
	const struct ruby_layout *layout = trace_ruby_layout();
	bool is_class = false, is_name = false;

	for (u32 i = 0; i < RUBY_CLASS_COUNT; i++)
		is_class |= layout->classes[i] != 0 &&
			    *(const u64 *)layout->classes[i] == call->object;
	for (u32 i = 0; i < OPERATOR_COUNT; i++)
		is_name |= operator_ids[i] == call->named;
	return is_class && is_name;
}

/* Reads what names a method in C, which has no frame yet. */
static void read_builtin(struct mem *mem, const struct ruby_layout *layout,
			 const struct trace_call *call, struct ruby_code *out_code)
{
	*out_code = (struct ruby_code){ .id = call->named };
	ruby_class_owner(mem, layout, call->object, &out_code->owner);
}

u64 trace_ruby_name(struct walk *walk, struct mem *mem, const struct trace_call *call)
{
	const struct ruby_layout *layout = walk->ruby->layout;
	struct ruby_frame frame;
	struct ruby_code code;

	if (call->kind == TRACE_KIND_RUBY_BUILTIN)
		read_builtin(mem, layout, call, &code);
	else if (ruby_frame_read(mem, layout, call->frame, &frame) < 0 ||
		 ruby_code_read(mem, layout, &frame, &code) < 0)
		return 0;
	const u64 key = ruby_name_code(walk, mem, &code);

	if (name_text_is(&walk->ruby->texts[1], "RubyVM::YJIT.enable"))
		trace_ruby_note_jit();
	/* callcc() copies the C stack; this is its first call. */
	if (call->kind == TRACE_KIND_RUBY_BUILTIN &&
	    name_text_is(&walk->ruby->texts[0], "callcc"))
		trace_native_see_no_ends();
	return key;
}
