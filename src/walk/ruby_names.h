/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ruby_names - the names under which a Ruby method, block or operator is shown.
 *
 * They are those of Ruby 3.4's backtraces, whatever the version (vm_backtrace.c,
 * calculate_iseq_label() and rb_gen_method_name()): `Foo#bar`, `Foo.baz`, `block in Foo#bar`,
 * `block (2 levels) in Foo#bar`, `<main>`, `<class:Foo>`; code of rescue, ensure and eval has the
 * name of the code that contains it.  An older Ruby's label of a block is not used; the name is
 * built from the code that contains the block.
 */
#pragma once
#include "ruby_code.h"

/* Most nested clauses and blocks. */
#define RUBY_PARENTS_MAX 64

/* The parts of a name: "block in " and the label that follows. */
struct ruby_label {
	u32 levels;   /* how deep a block is nested in it; 0: not a block */
	u64 text;     /* a String */
	u8 has_owner; /* the label is a method's */
};

/* Types of enum iseq_type whose code has its parent's name; others have a label of their own. */
static inline int ruby_has_parents_name(u32 type)
{
	return type == RUBY_ISEQ_RESCUE || type == RUBY_ISEQ_ENSURE || type == RUBY_ISEQ_EVAL;
}

static inline int ruby_is_block(u32 type)
{
	return type == RUBY_ISEQ_BLOCK || type == RUBY_ISEQ_PLAIN;
}

static inline int ruby_label_of(struct mem *mem, const struct ruby_layout *layout, u64 body,
				struct ruby_label *out_label)
{
	const struct ruby_offsets *offsets = &layout->offsets;
	u64 iseq;
	u32 type = 0;
	int is_in_block = 0;

	*out_label = (struct ruby_label){ 0 };
	for (u32 i = 0; i < RUBY_PARENTS_MAX; i++) {
		if (ruby_read_int(mem, &type, body, offsets->body_type) < 0)
			return -1;
		if (!ruby_has_parents_name(type) && !ruby_is_block(type))
			break;
		if (ruby_read(mem, &iseq, body, offsets->body_parent) < 0)
			return -1;
		if (iseq == 0)
			break;
		/* Clauses between a block and its method do not count as levels. */
		if (ruby_is_block(type))
			is_in_block = 1;
		if (type == RUBY_ISEQ_BLOCK)
			out_label->levels++;
		if (ruby_read(mem, &body, iseq, offsets->iseq_body) < 0)
			return -1;
	}
	if (is_in_block && out_label->levels == 0)
		out_label->levels = 1;
	out_label->has_owner = type == RUBY_ISEQ_METHOD;
	return ruby_read(mem, &out_label->text, body, offsets->body_label);
}

static inline void ruby_name_put_levels(struct name_text *text, u32 levels)
{
	char number[3] = { (char)('0' + levels / 10 % 10), (char)('0' + levels % 10), 0 };

	if (levels == 0)
		return;
	if (levels == 1) {
		name_text_add(text, "block in ");
		return;
	}
	name_text_add(text, "block (");
	name_text_add(text, levels < 10 ? number + 1 : number);
	name_text_add(text, " levels) in ");
}

static inline const char *ruby_newarray_method(u64 operand)
{
	static const char *const names[RUBY_NEWARRAY_METHODS] = {
		"", "max", "min", "hash", "pack", "pack", "include?",
	};

	return operand < RUBY_NEWARRAY_METHODS ? names[operand] : "";
}

static inline int ruby_name_put_operator(struct mem *mem, const struct ruby_layout *layout,
					 const struct ruby_code *code, struct name_text *text)
{
#define RUBY_OPERATOR_TEXT(name, its_text, receiver) its_text,
	static const char *const operators[] = { RUBY_OPERATOR_MAP(RUBY_OPERATOR_TEXT) };
#undef RUBY_OPERATOR_TEXT

	if (code->operation == RUBY_OPERATOR_NEWARRAY_SEND &&
	    layout->version < RUBY_NEWARRAY_NUMBERED)
		return ruby_text_append(mem, layout, ruby_symbol_of(mem, layout, code->id),
					text);
	if (code->operation == RUBY_OPERATOR_NEWARRAY_SEND)
		name_text_add(text, ruby_newarray_method(code->id));
	else
		name_text_add(text, operators[code->operation % RUBY_OPERATOR_COUNT]);
	return 0;
}

static inline int ruby_names_of_operator(struct mem *mem, const struct ruby_layout *layout,
					 const struct ruby_code *code,
					 struct name_text *out_name,
					 struct name_text *out_qualified)
{
#define RUBY_CLASS_TEXT(name, text) #text,
	static const char *const classes[] = { RUBY_CLASS_MAP(RUBY_CLASS_TEXT) };
#undef RUBY_CLASS_TEXT

	name_text_add(out_qualified, classes[code->class % RUBY_CLASS_COUNT]);
	name_text_add(out_qualified, "#");
	if (ruby_name_put_operator(mem, layout, code, out_name) < 0)
		return -1;
	return ruby_name_put_operator(mem, layout, code, out_qualified);
}

/* Appends "Foo#bar", if the method's class is known. */
static inline int ruby_name_put_qualified(struct mem *mem, const struct ruby_layout *layout,
					  const struct ruby_code *code,
					  const struct ruby_label *label,
					  struct name_text *out_qualified)
{
	const char separator[2] = { (char)code->owner.separator, 0 };

	if (!label->has_owner || code->owner.path == 0)
		return 0;
	ruby_name_put_levels(out_qualified, label->levels);
	if (ruby_text_append(mem, layout, code->owner.path, out_qualified) < 0)
		return -1;
	name_text_add(out_qualified, separator);
	return ruby_text_append(mem, layout, label->text, out_qualified);
}

/*
 * Writes "bar", "Foo#bar" and the file's path.  `qualified` is empty if it would add nothing to
 * `name`, `file` if there is none.  0, or negative if a part cannot be read: then the texts are
 * not valid.
 */
static inline int ruby_code_texts(struct mem *mem, const struct ruby_layout *layout,
				  const struct ruby_code *code, struct name_text *out_name,
				  struct name_text *out_qualified, struct name_text *out_file)
{
	struct ruby_label label = { .has_owner = 1 };

	out_name->length = out_qualified->length = out_file->length = 0;
	out_name->is_cut = out_qualified->is_cut = out_file->is_cut = 0;
	if (code->operation != RUBY_OPERATOR_NONE)
		return ruby_names_of_operator(mem, layout, code, out_name, out_qualified);
	if (code->iseq == 0)
		label.text = ruby_symbol_of(mem, layout, code->id);
	else if (ruby_label_of(mem, layout, code->body, &label) < 0)
		return -1;
	/* Code may have no path, but nil. */
	if (ruby_is_object(code->path) &&
	    ruby_text_append(mem, layout, code->path, out_file) < 0)
		return -1;
	ruby_name_put_levels(out_name, label.levels);
	if (ruby_text_append(mem, layout, label.text, out_name) < 0)
		return -1;
	return ruby_name_put_qualified(mem, layout, code, &label, out_qualified);
}
