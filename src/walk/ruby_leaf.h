/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ruby_leaf - calls that the innermost Ruby frame makes without a frame for the callee.
 *
 * `a + b` is a method call, but for numbers, strings and arrays the VM has an instruction that
 * adds them itself, unless the method was redefined: no frame is made.  The same goes for
 * attribute readers and writers, members of Structs, Proc#call and Kernel#send, and methods that
 * consist of one builtin; those are called by the ordinary instruction, whose cache has the
 * method.
 *
 * Two instructions may be the one that executes: the one *before* the frame's pc or, since some
 * do not advance pc until they are done (up to 3.2), the one *at* it.  The machine's pc in
 * vm_exec_core(), where each has its own code, shows which.  So this comes in two parts: what
 * either would do is read from the heap (ruby_leaves_read()), and can be kept while the garbage
 * collector runs; choosing between them needs no memory access (ruby_leaves_choose()).
 *
 * Receivers are on the frame's value stack until the result replaces them, and then may look like
 * another class's: so only classes count for which the instruction works itself.  (For others it
 * makes an ordinary call.)  Sources: insns.def, vm_insnhelper.c (vm_opt_plus() and the like;
 * vm_call_method_each_type()) of each version.
 */
#pragma once
#include "ruby_call.h"

struct ruby_leaf {
	u64 method;      /* for RUBY_OPERATOR_SEND: the called method's entry */
	u64 operand;     /* for RUBY_OPERATOR_NEWARRAY_SEND: which method */
	u16 instruction; /* RUBY_NO_INSTRUCTION: none */
	u8 operation;    /* enum ruby_operator; RUBY_OPERATOR_NONE: no call */
	u8 class;        /* enum ruby_class: of the receiver */
	u8 stands_at;    /* the frame's pc points at the instruction */
};

/* What the two instructions would do. */
struct ruby_leaves {
	struct ruby_leaf before, at;
};

#define RUBY_ON(name) (1U << RUBY_CLASS_##name)

/* The receivers' classes for which an operator's instruction makes no call. */
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
		/*
		 * Not Integer: in the end, an Integer from an array has replaced the array on the
		 * stack.
		 */
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

/* How many words below the stack pointer an operator's receiver is; 0: not on the stack. */
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
 * The class of a VALUE that is no object, or RUBY_CLASS_COUNT.  (value.h, enum
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

/* The class of a VALUE, if it is in `classes`, a set of RUBY_ON(); else RUBY_CLASS_COUNT. */
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

/* A frame's stack pointer is at most so far from its environment. */
#define RUBY_VALUES_MAX 0x10000ULL

/*
 * Whether the address is on the frame's value stack: the first value follows the environment,
 * unless that has moved to the heap.  An instruction that is done has removed its operands, and
 * the words below them need not be values.
 */
static inline int ruby_is_value_at(const struct ruby_frame *frame, u64 address)
{
	return frame->ep > frame->sp || frame->sp - frame->ep > RUBY_VALUES_MAX ||
	       address > frame->ep;
}

/* Finds an operator's receiver; sets RUBY_OPERATOR_NONE if the instruction makes a call for it. */
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
		/* The instruction creates the receiver. */
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

/* Whether a method consists of one builtin, which the caller executes directly. */
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
 * Whether the receiver is of the class that the call's cache is for.  It is below the arguments,
 * below the stack pointer; handlers of such calls remove them at once, and it is at the stack
 * pointer.  If it is of another class, the cache is from an earlier call, and a method is being
 * looked up.
 */
static inline int ruby_receiver_is_of(struct mem *mem, const struct ruby_layout *layout, u64 sp,
				      u32 arguments, u64 class)
{
	const u64 places[] = { sp - (arguments + 1) * sizeof(u64), sp };
	u64 value;

	if (layout->offsets.cache_class == RUBY_NO_FIELD)
		return 1; /* 2.7 compares serial numbers of classes */
	for (u32 i = 0; i < 2; i++) {
		if (mem_read(mem, &value, sizeof value, places[i]) >= 0 &&
		    ruby_class_of(mem, layout, value) == class)
			return 1;
	}
	return 0;
}

/* Finds the method that an ordinary call instruction calls, if that makes no frame. */
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
 * opt_newarray_send's methods: numbers from 3.4 on (vm_core.h, enum vm_opt_newarray_send_type),
 * IDs in 3.3.
 */
#define RUBY_NEWARRAY_NUMBERED 0x030400
#define RUBY_NEWARRAY_METHODS  7

static inline int ruby_is_newarray_method(const struct ruby_layout *layout, u64 operand)
{
	return operand != 0 &&
	       (layout->version < RUBY_NEWARRAY_NUMBERED || operand < RUBY_NEWARRAY_METHODS);
}

/* Reads what the instruction at `place` would do. */
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

/* Reads what an innermost frame of kind RUBY_FRAME_ISEQ may be doing. */
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

/* Whether two instructions are so similar that the compiler may have merged their code. */
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
 * Chooses which of the two is executing.  core_address: where in vm_exec_core() the machine
 * executes, or will continue (one byte before the return address); 0: unknown.
 *
 * The address may be in code that instructions share, or that the compiler moved behind all
 * others; then it seems to belong to a third one: opt_size may be no more than a jump into
 * opt_length.
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
	/* If it does not advance pc until it is done, it is done: pc is behind it. */
	if (before_stays)
		return at;
	if (!ruby_pc_stays(layout, at->instruction) ||
	    ruby_instructions_are_kin(layout, executed, before->instruction))
		return before;
	/* The former does no work, the latter does: nearly all of the time is the latter's. */
	if (ruby_operator_of(layout, before->instruction) == RUBY_OPERATOR_NONE &&
	    at->operation != RUBY_OPERATOR_NONE)
		return at;
	return ruby_instructions_are_kin(layout, executed, at->instruction) ? at : before;
}
