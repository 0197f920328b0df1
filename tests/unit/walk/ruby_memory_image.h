/*
 * ruby_memory_image - a process's memory made by hand, for walks along Ruby's control frames.
 *
 * Offsets are small and like no version's: a walker that knows better than its layout fails.
 * What differs from version to version in more than offsets is a struct generation.
 */
#pragma once
#include "memory_by_hand.h"

#define CONTEXT       (MEMORY + 0x100)
#define THREAD        (MEMORY + 0x200)
#define VM            (MEMORY + 0x300)
#define VM_VARIABLE   (MEMORY + 0x400)
#define SYMBOLS       (MEMORY + 0x500)
#define CLASS_AT(n)   (MEMORY + 0x600 + (n)*8ULL) /* variables that hold the VM's own classes */
#define STACK         (MEMORY + 0x1000)
#define STACK_WORDS   1024ULL
#define STACK_END     (STACK + STACK_WORDS * 8)
#define EP(n)         (STACK + 0x40 + (n)*0x40ULL)
#define ISEQ(n)       (MEMORY + 0x4000 + (n)*0x40ULL)
#define BODY(n)       (MEMORY + 0x5000 + (n)*0x100ULL)
#define CODE(n)       (MEMORY + 0x8000 + (n)*0x100ULL)
#define METHOD(n)     (MEMORY + 0xb000 + (n)*0x40ULL)
#define DEFINITION(n) (MEMORY + 0xc000 + (n)*0x40ULL)
#define CLASS(n)      (MEMORY + 0xd000 + (n)*0x100ULL)
#define EXT(n)        (MEMORY + 0x10000 + (n)*0x100ULL)
#define TEXT(n)       (MEMORY + 0x14000 + (n)*0x400ULL)
#define OBJECT(n)     (MEMORY + 0x24000 + (n)*0x40ULL)
#define IDS           (MEMORY + 0x28000)
#define UNITS         (MEMORY + 0x28100)
#define UNIT(n)       (MEMORY + 0x28200 + (n)*0x40ULL)
#define UNIT_PAIRS(n) (MEMORY + 0x29000 + (n)*0x2000ULL)
#define TABLE         (MEMORY + 0x30000)
#define SHAPES        (MEMORY + 0x38000)
#define PTHREAD       0x7f0000001000ULL

/* Code that instructions are made of: 16 bytes each. */
#define CORE           0x70000000ULL
#define CORE_LEN       0x1000ULL
#define INSTRUCTION(n) (CORE + 0x100 + (n)*0x10ULL)

#define LAST_OPERATOR 170
#define ID_OF(serial) ((uint64_t)(serial) << 4 | 1)

#include "walk/ruby.h"
#include "walk/ruby_line.h"
#include "walk/ruby_names.h"

static inline uint64_t word_at(const struct mem *mem, uint64_t addr)
{
	uint64_t word;

	memcpy(&word, mem->bytes + (addr - MEMORY), sizeof word);
	return word;
}

/* How a version keeps the path of a class. */
enum paths { IN_A_TABLE, BY_SHAPE, IN_A_FIELD };

struct generation {
	const char *name;
	uint32_t version;
	uint8_t context_means;
	uint8_t class_ext_is_pointer, first_line_is_value, text_length_in_flags;
	uint8_t nil, singleton_flag;
	uint16_t frame_size;
	enum paths paths;
};

static const struct generation generations[] = {
	{ "2.7", 0x020704, RUBY_CONTEXT_BY_LIST, 1, 1, 1, 8, 12, 56, IN_A_TABLE },
	{ "3.1", 0x030102, RUBY_CONTEXT_BY_TLS, 1, 1, 1, 8, 12, 64, IN_A_TABLE },
	{ "3.2", 0x030203, RUBY_CONTEXT_BY_TLS, 0, 0, 0, 4, 12, 64, BY_SHAPE },
	{ "3.3", 0x030308, RUBY_CONTEXT_BY_TLS, 0, 0, 0, 4, 12, 56, IN_A_FIELD },
	{ "3.4", 0x03040b, RUBY_CONTEXT_BY_TLS, 0, 0, 0, 4, 13, 56, IN_A_FIELD },
};

#define GENERATIONS (sizeof generations / sizeof generations[0])

/* Instructions of the image, by their operators. */
enum {
	PLUS_STAYS = RUBY_OPERATOR_COUNT,
	OTHER_STAYS,
	SUCC_STAYS,
	OTHER_SUCC_STAYS,
	INSTRUCTIONS
};

static inline void set_instructions(struct ruby_layout *layout)
{
	layout->core[0].start = CORE;
	layout->core[0].end = CORE + CORE_LEN;
	layout->instruction_count = INSTRUCTIONS;
	for (unsigned i = 0; i < INSTRUCTIONS; i++) {
		layout->labels[i] = (uint32_t)(INSTRUCTION(i) - CORE);
		layout->instructions[i] = (uint8_t)(i < RUBY_OPERATOR_COUNT ? i : 0);
	}
	layout->instructions[PLUS_STAYS] = RUBY_OPERATOR_PLUS | RUBY_INSTRUCTION_PC_STAYS;
	layout->instructions[SUCC_STAYS] = RUBY_OPERATOR_SUCC | RUBY_INSTRUCTION_PC_STAYS;
	layout->instructions[OTHER_SUCC_STAYS] = layout->instructions[SUCC_STAYS];
	layout->instructions[OTHER_STAYS] = RUBY_INSTRUCTION_PC_STAYS;
}

static inline void set_frame_offsets(struct ruby_offsets *offsets,
				     const struct generation *generation)
{
	offsets->frame_size = generation->frame_size;
	offsets->frame_ep = 0;
	offsets->frame_self = 8;
	offsets->frame_iseq = 16;
	offsets->frame_pc = 24;
	offsets->frame_sp = 32;
	if (generation->version >= 0x030100)
		offsets->frame_jit_return = 48;
	offsets->ec_stack = 24;
	offsets->ec_stack_size = 8;
	offsets->ec_frame = 40;
	offsets->ec_thread = 16;
	offsets->thread_ec = 24;
	offsets->thread_pthread = 32;
	offsets->iseq_body = 24;
	offsets->body_type = 12;
	offsets->body_size = 4;
	offsets->body_encoded = 24;
	offsets->body_path = 32;
	offsets->body_label = 40;
	offsets->body_first_line = 56;
	offsets->body_lines = 64;
	offsets->body_line_count = 72;
	offsets->body_line_index = 80;
	offsets->body_parent = 96;
	offsets->body_local = 104;
	offsets->line_size = 12;
}

static inline void set_object_offsets(struct ruby_offsets *offsets,
				      const struct generation *generation)
{
	offsets->method_definition = 24;
	offsets->method_owner = 40;
	offsets->definition_iseq = 16;
	offsets->definition_id = 24;
	if (generation->version >= 0x030000) {
		offsets->call_data_cache = 16;
		offsets->cache_class = 24;
	}
	offsets->cache_method = 8;
	offsets->class_ext = 32;
	offsets->refinement_class = 24;
	if (generation->paths == IN_A_FIELD) {
		offsets->ext_classpath = 48;
		offsets->ext_attached = 56;
	} else if (generation->paths == IN_A_TABLE) {
		offsets->ext_table = 16;
	} else {
		offsets->ext_variables = 24;
		offsets->vm_shapes = 40;
	}
	offsets->text_length = 24;
	offsets->text_pointer = 32;
	offsets->text_embedded = generation->text_length_in_flags ? 24 : 32;
	offsets->array_embedded = 24;
	offsets->array_pointer = 40;
	offsets->symbols_ids = 24;
}

static inline struct ruby_layout layout_of(const struct generation *generation)
{
	struct ruby_layout layout = {
		.version = generation->version,
		.is_known = 1,
		.context_means = generation->context_means,
		.class_ext_is_pointer = generation->class_ext_is_pointer,
		.singleton_flag = generation->singleton_flag,
		.first_line_is_value = generation->first_line_is_value,
		.text_length_in_flags = generation->text_length_in_flags,
		.nil = generation->nil,
		.last_operator_id = LAST_OPERATOR,
		.vm = VM_VARIABLE,
		.symbols = SYMBOLS,
	};

	memset(&layout.offsets, 0xff, sizeof layout.offsets);
	set_frame_offsets(&layout.offsets, generation);
	set_object_offsets(&layout.offsets, generation);
	set_instructions(&layout);
	for (unsigned i = 0; i < RUBY_CLASS_COUNT; i++)
		layout.classes[i] = CLASS_AT(i);
	return layout;
}

/* A String; of more than 20 bytes, with its bytes elsewhere. */
static inline void put_text(struct mem *mem, const struct ruby_layout *layout, uint64_t text,
			    const char *bytes)
{
	const uint64_t length = strlen(bytes);
	uint64_t flags = RUBY_T_STRING, data = text + layout->offsets.text_embedded;

	if (length > 20) {
		flags |= RUBY_TEXT_IS_APART;
		data = text + 0x80;
		put_word(mem, text + layout->offsets.text_pointer, data);
		put_word(mem, text + layout->offsets.text_length, length);
	} else if (layout->text_length_in_flags) {
		flags |= length << RUBY_TEXT_LENGTH_SHIFT;
	} else {
		put_word(mem, text + layout->offsets.text_length, length);
	}
	put_word(mem, text, flags);
	put(mem, data, bytes, length + 1);
}

/* Makes the Array of Arrays of pairs, with room for 1,024 names. */
static inline void put_symbols(struct mem *mem, const struct ruby_layout *layout)
{
	put_word(mem, SYMBOLS + layout->offsets.symbols_ids, IDS);
	put_word(mem, IDS, RUBY_T_ARRAY);
	put_word(mem, IDS + layout->offsets.array_embedded, 2);
	put_word(mem, IDS + layout->offsets.array_pointer, UNITS);
	for (unsigned i = 0; i < 2; i++) {
		put_word(mem, UNITS + i * 8, UNIT(i));
		put_word(mem, UNIT(i), RUBY_T_ARRAY);
		put_word(mem, UNIT(i) + layout->offsets.array_embedded, 1024);
		put_word(mem, UNIT(i) + layout->offsets.array_pointer, UNIT_PAIRS(i));
	}
}

static inline void put_symbol(struct mem *mem, const struct ruby_layout *layout, uint64_t id,
			      unsigned text, const char *name)
{
	const uint64_t serial = id > LAST_OPERATOR ? id >> 4 : id;

	put_text(mem, layout, TEXT(text), name);
	put_word(mem, UNIT_PAIRS(serial / 512) + serial % 512 * 16, TEXT(text));
}

#define CLASSPATH_ID 300
#define ATTACHED_ID  700

/* A class's variable: the path, or what a singleton is attached to. */
static inline void put_variable(struct mem *mem, const struct ruby_layout *layout,
				unsigned class, unsigned which, uint64_t value)
{
	const struct ruby_offsets *offsets = &layout->offsets;
	const uint64_t id = ID_OF(which ? ATTACHED_ID : CLASSPATH_ID);
	const uint64_t ext =
		layout->class_ext_is_pointer ? EXT(class) : CLASS(class) + offsets->class_ext;
	const uint64_t table = TABLE + class * 0x200, entries = table + 0x80;

	if (offsets->ext_classpath != RUBY_NO_FIELD) {
		put_word(mem, ext + (which ? offsets->ext_attached : offsets->ext_classpath),
			 value);
	} else if (offsets->ext_table != RUBY_NO_FIELD) {
		put_word(mem, ext + offsets->ext_table, table);
		/* The first entry was deleted, the second is some other variable. */
		put_word(mem, table + 32, 0);
		put_word(mem, table + 40, 3);
		put_word(mem, table + 48, entries);
		put_word(mem, entries, ~0ULL);
		put_word(mem, entries + 8, id);
		put_word(mem, entries + 16, NOWHERE);
		put_word(mem, entries + 24 + 8, ID_OF(701));
		put_word(mem, entries + 24 + 16, NOWHERE);
		put_word(mem, entries + 48 + 8, id);
		put_word(mem, entries + 48 + 16, value);
	} else {
		/* Shape 2 is the path's, 3 another's, 4 the attached one's, 5 a frozen one. */
		put_word(mem, ext + offsets->ext_variables, table);
		put_word(mem, table + (which ? 16 : 0), value);
	}
}

static inline void put_shape(struct mem *mem, unsigned shape, uint64_t id, uint32_t next,
			     uint8_t type, uint32_t parent)
{
	const uint64_t at = SHAPES + shape * 32ULL;

	put_word(mem, at + 8, id);
	put_int(mem, at + 16, next);
	put(mem, at + 24, &type, 1);
	put_int(mem, at + 28, parent);
}

static inline void put_shapes(struct mem *mem, const struct ruby_layout *layout)
{
	put_word(mem, VM_VARIABLE, VM);
	put_word(mem, VM + layout->offsets.vm_shapes, SHAPES);
	put_shape(mem, 2, ID_OF(CLASSPATH_ID), 1, 1, 0);
	put_shape(mem, 3, ID_OF(701), 2, 1, 2);
	put_shape(mem, 4, ID_OF(ATTACHED_ID), 3, 1, 3);
	put_shape(mem, 5, 0, 3, 2, 4);
}

/* A class or module with a path (NULL: none), or a singleton class of `attached`. */
static inline void put_class(struct mem *mem, const struct ruby_layout *layout, unsigned class,
			     uint64_t flags, const char *path, uint64_t attached)
{
	if (layout->offsets.vm_shapes != RUBY_NO_FIELD)
		flags |= 5ULL << 32;
	if (attached != 0)
		flags |= 1ULL << layout->singleton_flag;
	put_word(mem, CLASS(class), flags);
	if (layout->class_ext_is_pointer)
		put_word(mem, CLASS(class) + layout->offsets.class_ext, EXT(class));
	if (path) {
		put_text(mem, layout, TEXT(40 + class), path);
		put_variable(mem, layout, class, 0, TEXT(40 + class));
	}
	if (attached != 0)
		put_variable(mem, layout, class, 1, attached);
}

/* A method entry: of an iseq (type 0), or one in C (type 1) with that ID. */
static inline void put_method(struct mem *mem, const struct ruby_layout *layout,
			      unsigned method, unsigned class, uint32_t type, uint64_t value)
{
	const struct ruby_offsets *offsets = &layout->offsets;

	put_word(mem, METHOD(method), RUBY_IMEMO_MENT);
	put_word(mem, METHOD(method) + offsets->method_owner, CLASS(class));
	put_word(mem, METHOD(method) + offsets->method_definition, DEFINITION(method));
	put_int(mem, DEFINITION(method), type);
	put_word(mem, DEFINITION(method) + offsets->definition_iseq, type == 0 ? value : 0);
	put_word(mem, DEFINITION(method) + offsets->definition_id,
		 type == 0 ? ID_OF(702) : value);
}

/* Compiled code of eight words, no operands; its label is TEXT(n), its path TEXT(31). */
static inline void put_iseq(struct mem *mem, const struct ruby_layout *layout, unsigned iseq,
			    uint32_t type, const char *label, uint64_t parent)
{
	const struct ruby_offsets *offsets = &layout->offsets;
	const uint64_t body = BODY(iseq);

	put_word(mem, ISEQ(iseq), RUBY_IMEMO_ISEQ);
	put_word(mem, ISEQ(iseq) + offsets->iseq_body, body);
	put_int(mem, body + offsets->body_type, type);
	put_int(mem, body + offsets->body_size, 8);
	put_word(mem, body + offsets->body_encoded, CODE(iseq));
	put_word(mem, body + offsets->body_path, TEXT(31));
	put_word(mem, body + offsets->body_label, TEXT(iseq));
	put_word(mem, body + offsets->body_parent, parent);
	put_word(mem, body + offsets->body_local, parent != 0 ? parent : ISEQ(iseq));
	put_word(mem, body + offsets->body_first_line, layout->first_line_is_value ? 15 : 7);
	put_text(mem, layout, TEXT(iseq), label);
	put_text(mem, layout, TEXT(31), "/srv/a/path/of/some/length/app.rb");
	for (unsigned i = 0; i < 8; i++)
		put_word(mem, CODE(iseq) + i * 8, INSTRUCTION(RUBY_OPERATOR_NONE));
}

/* Frame n, counted from the oldest: 0 ends where the stack does. */
static inline uint64_t frame_at(const struct ruby_layout *layout, unsigned n)
{
	return STACK_END - (n + 1ULL) * layout->offsets.frame_size;
}

static inline void put_env(struct mem *mem, uint64_t ep, uint64_t method, uint64_t outer,
			   uint64_t flags)
{
	put_word(mem, ep - 16, method);
	put_word(mem, ep - 8, outer);
	put_word(mem, ep, flags);
}

static inline void put_frame(struct mem *mem, const struct ruby_layout *layout, unsigned n,
			     uint64_t iseq, uint64_t pc, uint64_t ep)
{
	const uint64_t frame = frame_at(layout, n);

	put_word(mem, frame + layout->offsets.frame_ep, ep);
	put_word(mem, frame + layout->offsets.frame_iseq, iseq);
	put_word(mem, frame + layout->offsets.frame_pc, pc);
	put_word(mem, frame + layout->offsets.frame_sp, ep + 8);
}

/* The context of a thread whose innermost frame is this one. */
static inline void put_context(struct mem *mem, const struct ruby_layout *layout,
			       unsigned innermost)
{
	const struct ruby_offsets *offsets = &layout->offsets;

	put_word(mem, CONTEXT + offsets->ec_stack, STACK);
	put_word(mem, CONTEXT + offsets->ec_stack_size, STACK_WORDS);
	put_word(mem, CONTEXT + offsets->ec_frame, frame_at(layout, innermost));
	put_word(mem, CONTEXT + offsets->ec_thread, THREAD);
	put_word(mem, THREAD + offsets->thread_ec, CONTEXT);
	put_word(mem, THREAD + offsets->thread_pthread, PTHREAD);
}

/* enum vm_frame_env_flags */
#define MAGIC_METHOD 0x11110001ULL
#define MAGIC_BLOCK  0x22220001ULL
#define MAGIC_CLASS  0x33330001ULL
#define MAGIC_TOP    0x44440001ULL
#define MAGIC_CFUNC  0x55550001ULL
#define MAGIC_IFUNC  0x66660001ULL
#define MAGIC_EVAL   0x77770001ULL
#define MAGIC_RESCUE 0x78880001ULL
#define MAGIC_DUMMY  0x79990001ULL
#define IS_LOCAL     0x2ULL
#define IS_FINISH    0x20ULL
#define IS_CFRAME    0x80ULL

/*
 * A program: <main> calls Foo#bar, whose block Array#each calls, and that calls Foo.baz.
 * Frames: 0 dummy, 1 <main> (last), 2 Foo#bar, 3 Array#each, 4 the block (last), 5 Foo.baz.
 */
static inline struct mem *make_program(const struct ruby_layout *layout)
{
	struct mem *mem = calloc(1, sizeof *mem);

	put_symbols(mem, layout);
	put_symbol(mem, layout, ID_OF(CLASSPATH_ID), 20, "__classpath__");
	put_symbol(mem, layout, ID_OF(ATTACHED_ID), 21, "__attached__");
	put_symbol(mem, layout, ID_OF(701), 22, "@classpath__");
	put_symbol(mem, layout, ID_OF(702), 23, "not_this");
	put_symbol(mem, layout, ID_OF(600), 24, "each");
	put_symbol(mem, layout, 151, 25, "<=>");
	if (layout->offsets.vm_shapes != RUBY_NO_FIELD)
		put_shapes(mem, layout);
	put_class(mem, layout, 0, RUBY_T_CLASS, "Foo", 0);
	put_class(mem, layout, 1, RUBY_T_CLASS, NULL, CLASS(0));
	put_class(mem, layout, 2, RUBY_T_CLASS, "Array", 0);
	put_iseq(mem, layout, 0, RUBY_ISEQ_MAIN, "<main>", 0);
	put_iseq(mem, layout, 1, RUBY_ISEQ_METHOD, "bar", 0);
	put_iseq(mem, layout, 2, RUBY_ISEQ_BLOCK, "block in bar", ISEQ(1));
	put_iseq(mem, layout, 3, RUBY_ISEQ_METHOD, "baz", 0);
	put_method(mem, layout, 1, 0, 0, ISEQ(1));
	put_method(mem, layout, 2, 2, 1, ID_OF(600));
	put_method(mem, layout, 3, 1, 0, ISEQ(3));

	put_env(mem, EP(0), 0, 0, MAGIC_DUMMY | IS_LOCAL | IS_FINISH | IS_CFRAME);
	put_frame(mem, layout, 0, 0, 0, EP(0));
	put_env(mem, EP(1), 0, 0, MAGIC_TOP | IS_LOCAL | IS_FINISH);
	put_frame(mem, layout, 1, ISEQ(0), CODE(0) + 16, EP(1));
	put_env(mem, EP(2), METHOD(1), 0, MAGIC_METHOD | IS_LOCAL);
	put_frame(mem, layout, 2, ISEQ(1), CODE(1) + 24, EP(2));
	put_env(mem, EP(3), METHOD(2), 0, MAGIC_CFUNC | IS_LOCAL | IS_CFRAME);
	put_frame(mem, layout, 3, 0, 0x5a5a5a5a5a5a5a5aULL, EP(3));
	put_env(mem, EP(4), 0, EP(2) | 1, MAGIC_BLOCK | IS_FINISH);
	put_frame(mem, layout, 4, ISEQ(2), CODE(2) + 32, EP(4));
	put_env(mem, EP(5), METHOD(3), 0, MAGIC_METHOD | IS_LOCAL);
	put_frame(mem, layout, 5, ISEQ(3), CODE(3) + 8, EP(5));
	put_context(mem, layout, 5);
	return mem;
}
