/*
 * objects - the fields of CPython's objects that each event reads, and the identity of a callee.
 */
#pragma once
#include "abi/types.h"
#include "agent/trace/word.h"

struct python_layout;

/* The part of the layout that each event needs, in one place for the cache's sake. */
struct trace_objects {
	u64 function_type; /* PyFunction_Type */
	u64 builtin_type;
	u64 method_type; /* PyCMethod_Type, from 3.9 on; before, as builtin_type */
	u64 descriptor_type;
	u16 object_type, builtin_method, descriptor_method;
	u16 code_filename, code_name, code_table;
};
extern struct trace_objects trace_objects;
/* Before the first event. */
void trace_python_find_objects(const struct python_layout *layout);

/*
 * The identity of a code object: its address, mixed with members that distinguish it from another
 * one created at the same address later.
 */
static inline u64 trace_python_identity(u64 code)
{
	return code ^ trace_rotate(trace_word(code, trace_objects.code_filename), 17) ^
	       trace_rotate(trace_word(code, trace_objects.code_name), 31) ^
	       trace_rotate(trace_word(code, trace_objects.code_table), 47);
}

/* The PyMethodDef of a callable; 0: it is no C function. */
static inline u64 trace_python_method(u64 callable)
{
	const u64 type = trace_word(callable, trace_objects.object_type);

	if (type == trace_objects.function_type)
		return 0;
	if (type == trace_objects.builtin_type || type == trace_objects.method_type)
		return trace_word(callable, trace_objects.builtin_method);
	if (type == trace_objects.descriptor_type)
		return trace_word(callable, trace_objects.descriptor_method);
	return 0;
}

/* The identity of a C function, by its PyMethodDef's address, ml_name and ml_meth. */
static inline u64 trace_python_method_identity(u64 method)
{
	return method ^ trace_rotate(trace_word(method, 0), 17) ^
	       trace_rotate(trace_word(method, sizeof(u64)), 31);
}
