#include "agent/trace/python/objects.h"

#include "abi/python_layout.h"
#include "agent/trace/python/api.h"

struct trace_objects trace_objects;

static u64 address_of(const char *name)
{
	return (u64)trace_symbol(name);
}

void trace_python_find_objects(const struct python_layout *layout)
{
	const struct python_offsets *offsets = &layout->offsets;
	const u64 method_type = address_of("PyCMethod_Type");

	trace_objects = (struct trace_objects){
		.function_type = address_of("PyFunction_Type"),
		.builtin_type = layout->builtin_type,
		.method_type = method_type != 0 ? method_type : layout->builtin_type,
		.descriptor_type = layout->descriptor_type,
		.object_type = offsets->object_type,
		.builtin_method = offsets->builtin_method,
		.descriptor_method = offsets->descriptor_method,
		.code_filename = offsets->code_filename,
		.code_name = offsets->code_name,
		.code_table = offsets->code_table,
	};
}
