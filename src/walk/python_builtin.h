/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * python_builtin - C functions that Python code calls, by their Python names.
 *
 * They have no Python frame.  But the calling frame has the callable on its value stack: a
 * builtin_function_or_method, or a method_descriptor and the object it is called on; either leads
 * to a PyMethodDef { ml_name, ml_meth, … }.  The stack does not show which of its objects is
 * being called (up to 3.13 not even where it ends, as the pointer to its top is in a register):
 * the including code decides by the native frames, which are executing some ml_meth or none.
 */
#pragma once
#include "python_code.h"
#include "python_walk.h"

/* How many slots are searched, from the top. */
#define PYTHON_SLOTS_MAX 64
/* PyFrameObject.f_valuestack, from 2.7 to 3.10: where the value stack begins, behind cells. */
#define PYTHON_OBJECT_STACK 64

struct python_slots {
	u64 begin, end;
};

/* Finds a frame's value stack: 0, or negative if it cannot be read. */
static inline int python_slots_of(struct mem *mem, const struct python_layout *layout,
				  const struct python_frame *frame,
				  struct python_slots *out_slots)
{
	const struct python_offsets *offsets = &layout->offsets;
	const u64 values = frame->address + offsets->frame_locals;
	s32 locals, depth;
	u64 top;

	if (offsets->builtin_method == PYTHON_NO_FIELD ||
	    python_read_int(mem, &locals, frame->code, offsets->code_local_count) < 0 ||
	    python_read_int(mem, &depth, frame->code, offsets->code_stack_size) < 0 ||
	    locals < 0 || depth < 0)
		return -1;
	out_slots->begin = values + (u64)locals * sizeof(u64);
	if (layout->chain == PYTHON_CHAIN_OBJECTS &&
	    python_read(mem, &out_slots->begin, frame->address, PYTHON_OBJECT_STACK) < 0)
		return -1;
	out_slots->end = out_slots->begin + (u64)depth * sizeof(u64);
	if (offsets->frame_stack == PYTHON_NO_FIELD)
		return 0;
	if (python_read(mem, &top, frame->address, offsets->frame_stack) < 0)
		return -1;
	if (top >= out_slots->begin && top < out_slots->end)
		out_slots->end = top;
	return 0;
}

/* Objects have addresses within these bounds. */
#define PYTHON_OBJECTS_BEGIN 0x10000ULL
#define PYTHON_OBJECTS_END   (1ULL << 47)

/*
 * The object in a slot, or 0.  Up to 3.10, slots above the top are uninitialised: reading
 * whatever they point to would cost a fault each.
 */
static inline u64 python_slot_object(u64 slot)
{
	const u64 object = slot & ~3ULL; /* _PyStackRef's tag bits */

	return (object & 7) == 0 && object >= PYTHON_OBJECTS_BEGIN &&
			       object < PYTHON_OBJECTS_END
		       ? object
		       : 0;
}

struct python_builtin {
	u64 name;     /* ml_name, a string of C's */
	u64 function; /* ml_meth */
	u64 module;   /* the module's name, a str; 0: a method */
	u64 type;     /* the type that has the method; 0: unknown */
};

/* PyMethodDef, of every version. */
#define PYTHON_METHOD_NAME     0
#define PYTHON_METHOD_FUNCTION 8

/* Reads a module's function, or a method bound to its object. */
static inline int python_builtin_bound(struct mem *mem, const struct python_layout *layout,
				       u64 object, struct python_builtin *out_builtin)
{
	const struct python_offsets *offsets = &layout->offsets;
	u64 self;

	if (python_read(mem, &self, object, offsets->builtin_self) < 0 ||
	    python_read(mem, &out_builtin->module, object, offsets->builtin_module) < 0)
		return -1;
	if (out_builtin->module != 0 || self == 0)
		return 0;
	if (python_read(mem, &out_builtin->type, self, offsets->object_type) < 0)
		return -1;
	/* A class method belongs to its class. */
	if (out_builtin->type == layout->type_type)
		out_builtin->type = self;
	return 0;
}

/* Reads a C function; negative: the object is none, or cannot be read. */
static inline int python_builtin_read(struct mem *mem, const struct python_layout *layout,
				      u64 object, struct python_builtin *out_builtin)
{
	const struct python_offsets *offsets = &layout->offsets;
	u64 type, method;
	int rc;

	*out_builtin = (struct python_builtin){ 0 };
	if (python_read(mem, &type, object, offsets->object_type) < 0)
		return -1;
	if (type == layout->builtin_type) {
		rc = python_builtin_bound(mem, layout, object, out_builtin);
		if (rc < 0 || python_read(mem, &method, object, offsets->builtin_method) < 0)
			return -1;
	} else if (type == layout->descriptor_type) {
		rc = python_read(mem, &out_builtin->type, object, offsets->descriptor_type);
		if (rc < 0 || python_read(mem, &method, object, offsets->descriptor_method) < 0)
			return -1;
	} else {
		return -1;
	}
	if (python_read(mem, &out_builtin->name, method, PYTHON_METHOD_NAME) < 0)
		return -1;
	return python_read(mem, &out_builtin->function, method, PYTHON_METHOD_FUNCTION);
}

static inline u64 python_builtin_key(struct mem *mem, const struct python_layout *layout,
				     const struct python_builtin *builtin)
{
	u64 hash = code_mix(builtin->name, builtin->function);
	u64 name = 0, word = 0;

	/* Heap types, and their names, may be freed. */
	if (builtin->type != 0 &&
	    python_read(mem, &name, builtin->type, layout->offsets.type_name) >= 0 &&
	    mem_read(mem, &word, sizeof word, name) < 0)
		word = 0;
	hash = code_mix(code_mix(hash, name), word);
	return code_key_of_hash(code_mix(code_mix(hash, builtin->module), builtin->type));
}

/* "sin" and "math.sin"; "append" and "list.append". */
static inline void python_builtin_texts(struct mem *mem, const struct python_layout *layout,
					const struct python_builtin *builtin,
					struct name_text *out_name,
					struct name_text *out_qualified)
{
	u64 type_name;

	out_name->length = 0;
	out_name->is_cut = 0;
	name_text_append_string(mem, builtin->name, out_name);
	python_text_read(mem, layout, builtin->module, out_qualified);
	if (builtin->type != 0 &&
	    python_read(mem, &type_name, builtin->type, layout->offsets.type_name) >= 0)
		name_text_append_string(mem, type_name, out_qualified);
	if (out_qualified->length == 0)
		return;
	if (out_qualified->length < NAME_TEXT_MAX)
		name_text_put(out_qualified, '.');
	name_text_append_string(mem, builtin->name, out_qualified);
}
