/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ruby_leaf - what the innermost Ruby frame does without making a frame for it.
 *
 * `a + b` is a method call, but for numbers, strings and arrays the VM has an instruction that
 * adds them itself, unless the method was redefined: it has no frame.  Nor do readers and
 * writers of attributes, members of Structs, Proc#call and Kernel#send, and methods that
 * consist of one builtin; those are called by the ordinary instruction, whose cache names the
 * method.
 *
 * Two instructions may be the one that is executed: the one *before* the frame's pc, and, since
 * some let pc stay until they are done (up to 3.2), the one *at* it.  Which of them it is, is
 * known by the machine's pc in vm_exec_core(), where each has code of its own.  So this comes in
 * two parts: what either would be is read from the heap (ruby_leaves_read()), and may be kept
 * while the collector works; which it is, needs no memory (ruby_leaves_choose()).
 *
 * Receivers are on the frame's value stack until the result takes their place, and then may
 * look like another class's: only those classes count that the instruction works on itself.
 * (With others it makes an ordinary call.)  Sources: insns.def, vm_insnhelper.c (vm_opt_plus()
 * and its like; vm_call_method_each_type()) of each version.
 */
#pragma once
#include "ruby_call.h"

struct ruby_leaf {
	u64 method; /* of RUBY_OPERATOR_SEND: the method entry that is called without a frame */
	u64 operand;     /* of RUBY_OPERATOR_NEWARRAY_SEND: which method */
	u16 instruction; /* RUBY_NO_INSTRUCTION: none */
	u8 operation;    /* enum ruby_operator; RUBY_OPERATOR_NONE: nothing that has a name */
	u8 class;        /* enum ruby_class: of the receiver */
	u8 stands_at;    /* the frame's pc is where the instruction begins */
};

/* What the two instructions would be. */
struct ruby_leaves {
	struct ruby_leaf before, at;
};

#define RUBY_ON(name) (1U << RUBY_CLASS_##name)

/* The classes that an operator's instruction works on itself. */
static inline u32 ruby_operator_classes(u8 operation)
{
	static const u16 classes[RUBY_OPERATOR_COUNT] = {
		[RUBY_OPERATOR_PLUS] =
			RUBY_ON(INTEGER) | RUBY_ON(FLOAT) | RUBY_ON(STRING) | RUBY_ON(ARRAY),
		[RUBY_OPERATOR_MINUS] = RUBY_ON(INTEGER) | RUBY_ON(FLOAT),
		[RUBY_OPERATOR_MULT] = RUBY_ON(INTEGER) | RUBY_ON(FLOAT),
		[RUBY_OPERATOR_DIV] = RUBY_ON(INTEGER) | RUBY_ON(FLOAT),
		[RUBY_OPERATOR_MOD] = RUBY_ON(INTEGER) | RUBY_ON(FLOAT),
		[RUBY_OPERATOR_EQ] =
			RUBY_ON(INTEGER) | RUBY_ON(FLOAT) | RUBY_ON(STRING) | RUBY_ON(SYMBOL),
		[RUBY_OPERATOR_NEQ] =
			RUBY_ON(INTEGER) | RUBY_ON(FLOAT) | RUBY_ON(STRING) | RUBY_ON(SYMBOL),
		[RUBY_OPERATOR_LT] = RUBY_ON(INTEGER) | RUBY_ON(FLOAT),
		[RUBY_OPERATOR_LE] = RUBY_ON(INTEGER) | RUBY_ON(FLOAT),
		[RUBY_OPERATOR_GT] = RUBY_ON(INTEGER) | RUBY_ON(FLOAT),
		[RUBY_OPERATOR_GE] = RUBY_ON(INTEGER) | RUBY_ON(FLOAT),
		[RUBY_OPERATOR_LTLT] = RUBY_ON(STRING) | RUBY_ON(ARRAY),
		[RUBY_OPERATOR_AND] = RUBY_ON(INTEGER),
		[RUBY_OPERATOR_OR] = RUBY_ON(INTEGER),
		/* And Integer: but what an array gave stands where it stood, in the end. */
		[RUBY_OPERATOR_AREF] = RUBY_ON(ARRAY) | RUBY_ON(HASH),
		[RUBY_OPERATOR_ASET] = RUBY_ON(ARRAY) | RUBY_ON(HASH),
		[RUBY_OPERATOR_AREF_WITH] = RUBY_ON(HASH),
		[RUBY_OPERATOR_ASET_WITH] = RUBY_ON(HASH),
		[RUBY_OPERATOR_LENGTH] = RUBY_ON(STRING) | RUBY_ON(ARRAY) | RUBY_ON(HASH),
		[RUBY_OPERATOR_SIZE] = RUBY_ON(STRING) | RUBY_ON(ARRAY) | RUBY_ON(HASH),
		[RUBY_OPERATOR_EMPTY] = RUBY_ON(STRING) | RUBY_ON(ARRAY) | RUBY_ON(HASH),
		[RUBY_OPERATOR_SUCC] = RUBY_ON(INTEGER) | RUBY_ON(STRING),
		[RUBY_OPERATOR_NIL_P] = RUBY_ON(NIL),
		[RUBY_OPERATOR_MATCH] = RUBY_ON(STRING) | RUBY_ON(REGEXP),
		[RUBY_OPERATOR_STR_FREEZE] = RUBY_ON(STRING),
		[RUBY_OPERATOR_STR_UMINUS] = RUBY_ON(STRING),
		[RUBY_OPERATOR_NEWARRAY_MAX] = RUBY_ON(ARRAY),
		[RUBY_OPERATOR_NEWARRAY_MIN] = RUBY_ON(ARRAY),
		[RUBY_OPERATOR_NEWARRAY_SEND] = RUBY_ON(ARRAY),
	};

	return operation < RUBY_OPERATOR_COUNT ? classes[operation] : 0;
}

/* How many words below the stack pointer an operator's receiver stands; 0: nowhere. */
static inline u32 ruby_operator_receiver(u8 operation)
{
#define RUBY_OPERATOR_RECEIVER(name, text, receiver) receiver,
	static const u8 receivers[] = { RUBY_OPERATOR_MAP(RUBY_OPERATOR_RECEIVER) };
#undef RUBY_OPERATOR_RECEIVER

	return operation < RUBY_OPERATOR_COUNT ? receivers[operation] : 0;
}

/* The class that a variable holds, or 0. */
static inline u64 ruby_class_at(struct mem *mem, const struct ruby_layout *layout, u32 class)
{
	u64 value;

	if (layout->classes[class] == 0 ||
	    mem_read(mem, &value, sizeof value, layout->classes[class]) < 0)
		return 0;
	return value;
}

/*
 * Of a VALUE that is no object: the class it is of, or RUBY_CLASS_COUNT.  (value.h, enum
 * ruby_special_consts with USE_FLONUM; false and true have never changed.)
 */
static inline u32 ruby_class_of_constant(const struct ruby_layout *layout, u64 value)
{
	if (value & 1)
		return RUBY_CLASS_INTEGER;
	if ((value & 3) == 2)
		return RUBY_CLASS_FLOAT;
	if ((value & 0xff) == 0x0c)
		return RUBY_CLASS_SYMBOL;
	if (value == layout->nil)
		return RUBY_CLASS_NIL;
	if (value == 0x14)
		return RUBY_CLASS_TRUE;
	return value == 0 ? RUBY_CLASS_FALSE : RUBY_CLASS_COUNT;
}

/* Which of the classes, a set of RUBY_ON(), a VALUE is of; RUBY_CLASS_COUNT: none. */
static inline u32 ruby_class_among(struct mem *mem, const struct ruby_layout *layout,
				   u32 classes, u64 value)
{
	u64 class;
	u32 i;

	if (!ruby_is_object(value)) {
		i = ruby_class_of_constant(layout, value);
		return classes >> i & 1 ? i : RUBY_CLASS_COUNT;
	}
	if (ruby_read(mem, &class, value, RUBY_CLASS) < 0 || class == 0)
		return RUBY_CLASS_COUNT;
	for (i = 0; i < RUBY_CLASS_COUNT; i++) {
		if ((classes >> i & 1) != 0 && ruby_class_at(mem, layout, i) == class)
			break;
	}
	return i;
}

/* A frame's values are not so many that its stack pointer were further from its environment. */
#define RUBY_VALUES_MAX 0x10000ULL

/*
 * Whether a value stands there: the first is right behind the environment, unless that has
 * moved to the heap.  An instruction that is done has taken its operands off, and what is below
 * them need not be a value.
 */
static inline int ruby_is_value_at(const struct ruby_frame *frame, u64 address)
{
	return frame->ep > frame->sp || frame->sp - frame->ep > RUBY_VALUES_MAX ||
	       address > frame->ep;
}

/* Makes out what an operator works on; it is none if that is nothing it works on itself. */
static inline void ruby_leaf_of_operator(struct mem *mem, const struct ruby_layout *layout,
					 const struct ruby_frame *frame, struct ruby_leaf *leaf)
{
	const u32 classes = ruby_operator_classes(leaf->operation);
	const u32 receiver = ruby_operator_receiver(leaf->operation);
	const u64 address = frame->sp - receiver * sizeof(u64);
	u64 value;

	if (classes == 0) {
		leaf->operation = RUBY_OPERATOR_NONE;
		return;
	}
	if (receiver == 0) {
		/* It is made by the instruction itself. */
		leaf->class = classes == RUBY_ON(ARRAY) ? RUBY_CLASS_ARRAY : RUBY_CLASS_STRING;
		return;
	}
	leaf->class = RUBY_CLASS_COUNT;
	if (ruby_is_value_at(frame, address) &&
	    mem_read(mem, &value, sizeof value, address) >= 0)
		leaf->class = (u8)ruby_class_among(mem, layout, classes, value);
	if (leaf->class == RUBY_CLASS_COUNT)
		leaf->operation = RUBY_OPERATOR_NONE;
}

/* The class of any VALUE, or 0. */
static inline u64 ruby_class_of(struct mem *mem, const struct ruby_layout *layout, u64 value)
{
	u64 class;
	u32 i;

	if (ruby_is_object(value))
		return ruby_read(mem, &class, value, RUBY_CLASS) < 0 ? 0 : class;
	i = ruby_class_of_constant(layout, value);
	return i < RUBY_CLASS_COUNT ? ruby_class_at(mem, layout, i) : 0;
}

/* Whether a method is nothing but a builtin, which callers execute themselves. */
static inline int ruby_is_builtin(struct mem *mem, const struct ruby_layout *layout,
				  u64 definition)
{
	const struct ruby_offsets *offsets = &layout->offsets;
	u64 iseq, body, encoded, word;

	return ruby_read(mem, &iseq, definition, offsets->definition_iseq) >= 0 &&
	       ruby_read(mem, &body, iseq, offsets->iseq_body) >= 0 &&
	       ruby_read(mem, &encoded, body, offsets->body_encoded) >= 0 &&
	       mem_read(mem, &word, sizeof word, encoded) >= 0 &&
	       ruby_operator_of(layout, ruby_instruction_of(layout, word)) ==
		       RUBY_OPERATOR_BUILTIN;
}

/*
 * Whether the receiver is what the call's cache was made for.  It stands below the stack
 * pointer, with the arguments above it; handlers of such calls take them off at once.  Where it
 * is not, the cache is an earlier call's, and a method is just being looked for.
 */
static inline int ruby_receiver_is_of(struct mem *mem, const struct ruby_layout *layout, u64 sp,
				      u32 arguments, u64 class)
{
	const u64 places[] = { sp - (arguments + 1) * sizeof(u64), sp };
	u64 value;

	if (layout->offsets.cache_class == RUBY_NO_FIELD)
		return 1; /* 2.7 goes by numbers of classes */
	for (u32 i = 0; i < 2; i++) {
		if (mem_read(mem, &value, sizeof value, places[i]) >= 0 &&
		    ruby_class_of(mem, layout, value) == class)
			return 1;
	}
	return 0;
}

/* Makes out which method an ordinary call calls, if that makes no frame. */
static inline void ruby_leaf_of_call(struct mem *mem, const struct ruby_layout *layout,
				     u64 place, u64 sp, struct ruby_leaf *leaf)
{
	const u16 class_field = layout->offsets.cache_class;
	struct ruby_call call;
	u64 class = 0;

	leaf->operation = RUBY_OPERATOR_NONE;
	if (ruby_call_read(mem, layout, place, &call) < 0 ||
	    (class_field != RUBY_NO_FIELD &&
	     ruby_read(mem, &class, call.cache, class_field) < 0))
		return;
	switch (call.type) {
	case RUBY_METHOD_OPTIMIZED:
		break;
	case RUBY_METHOD_ISEQ:
		if (!ruby_is_builtin(mem, layout, call.definition) ||
		    !ruby_receiver_is_of(mem, layout, sp, 0, class))
			return;
		break;
	case RUBY_METHOD_READER:
	case RUBY_METHOD_WRITER:
		if (!ruby_receiver_is_of(mem, layout, sp, call.type == RUBY_METHOD_WRITER,
					 class))
			return;
		break;
	default:
		return;
	}
	leaf->operation = RUBY_OPERATOR_SEND;
	leaf->method = call.method;
}

/*
 * opt_newarray_send's methods: from 3.4 on numbers (vm_core.h, enum vm_opt_newarray_send_type),
 * in 3.3 their IDs.
 */
#define RUBY_NEWARRAY_NUMBERED 0x030400
#define RUBY_NEWARRAY_METHODS  7

static inline int ruby_is_newarray_method(const struct ruby_layout *layout, u64 operand)
{
	return operand != 0 &&
	       (layout->version < RUBY_NEWARRAY_NUMBERED || operand < RUBY_NEWARRAY_METHODS);
}

/* What the instruction at `place` of the frame would be. */
static inline void ruby_leaf_read(struct mem *mem, const struct ruby_layout *layout,
				  const struct ruby_frame *frame, u64 place,
				  struct ruby_leaf *leaf)
{
	u64 word;

	*leaf = (struct ruby_leaf){ .instruction = RUBY_NO_INSTRUCTION };
	if (place == 0 || mem_read(mem, &word, sizeof word, place) < 0)
		return;
	leaf->instruction = (u16)ruby_instruction_of(layout, word);
	leaf->operation = ruby_operator_of(layout, leaf->instruction);
	if (leaf->operation == RUBY_OPERATOR_NONE)
		return;
	if (leaf->operation == RUBY_OPERATOR_SEND) {
		ruby_leaf_of_call(mem, layout, place, frame->sp, leaf);
		return;
	}
	ruby_leaf_of_operator(mem, layout, frame, leaf);
	if (leaf->operation == RUBY_OPERATOR_NEWARRAY_SEND &&
	    (mem_read(mem, &leaf->operand, sizeof word, place + 2 * sizeof word) < 0 ||
	     !ruby_is_newarray_method(layout, leaf->operand)))
		leaf->operation = RUBY_OPERATOR_NONE;
}

/* What a frame of kind RUBY_FRAME_ISEQ that no other is inside of may be doing. */
static inline void ruby_leaves_read(struct mem *mem, const struct ruby_layout *layout,
				    const struct ruby_frame *frame,
				    struct ruby_leaves *out_leaves)
{
	const u64 place = ruby_instruction_place(mem, layout, frame->encoded, frame->pc);
	const int is_at_end = frame->pc >= frame->encoded + (u64)frame->size * sizeof(u64);

	ruby_leaf_read(mem, layout, frame, place, &out_leaves->before);
	ruby_leaf_read(mem, layout, frame, is_at_end ? 0 : frame->pc, &out_leaves->at);
	out_leaves->at.stands_at = 1;
}

/* Whether two instructions are so much alike that the compiler may have given them one code. */
static inline int ruby_instructions_are_kin(const struct ruby_layout *layout, u32 one,
					    u32 other)
{
	const u8 first = ruby_operator_of(layout, one),
		 second = ruby_operator_of(layout, other);

	return ruby_operator_classes(first) != 0 &&
	       ruby_operator_classes(first) == ruby_operator_classes(second) &&
	       ruby_operator_receiver(first) == ruby_operator_receiver(second) &&
	       ruby_pc_stays(layout, one) == ruby_pc_stays(layout, other);
}

/*
 * Which of the two it is doing.  core_address is where in vm_exec_core() the machine executes,
 * or will go on (one byte before the return address); 0: not known.
 *
 * That may be in code that instructions share, or that the compiler put behind all others, and
 * then it is a third one's: of opt_size there may be no more than a jump into opt_length.
 */
static inline const struct ruby_leaf *ruby_leaves_choose(const struct ruby_layout *layout,
							 const struct ruby_leaves *leaves,
							 u64 core_address)
{
	const struct ruby_leaf *const before = &leaves->before, *const at = &leaves->at;
	const u32 executed = ruby_instruction_before(layout, core_address);
	const int before_stays = ruby_pc_stays(layout, before->instruction);

	if (executed != RUBY_NO_INSTRUCTION && executed == before->instruction)
		return before;
	if (executed != RUBY_NO_INSTRUCTION && executed == at->instruction)
		return at;
	/* The one before is done with, if it is one that lets pc stay. */
	if (before_stays)
		return at;
	if (!ruby_pc_stays(layout, at->instruction) ||
	    ruby_instructions_are_kin(layout, executed, before->instruction))
		return before;
	/* One that does no work, then one that does: nearly all of the time is the latter's. */
	if (ruby_operator_of(layout, before->instruction) == RUBY_OPERATOR_NONE &&
	    at->operation != RUBY_OPERATOR_NONE)
		return at;
	return ruby_instructions_are_kin(layout, executed, at->instruction) ? at : before;
}
