#include "remote/locals.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "remote/process.h"
#include "remote/python.h"
#include "remote/python_value.h"
#include "walk/python_builtin.h"
#include "walk/python_text.h"
#include "walk/python_thread.h"

#define MOST_LOCALS 100

/*
 * PyCodeObject: from 3.11 on co_localsplusnames and co_localspluskinds are directly before
 * co_filename; up to 3.10 co_varnames is, with three fields between.
 */
#define NAMES_BEFORE     16U
#define KINDS_BEFORE     8U
#define OLD_NAMES_BEFORE 32U
#define HAS_KINDS_FIRST  0x030b0000U
/* co_localspluskinds: the variable is in a cell (pycore_code.h). */
#define KIND_CELLS 0xc0
/* PyTupleObject: 3.14 has a hash before its items. */
#define TUPLE_ITEMS   24U
#define HASHED_TUPLES 0x030e0000U
#define CELL_VALUE    16U

static uint64_t tuple_items(const struct python_layout *layout, uint64_t tuple)
{
	return tuple + python_head_more(layout) + TUPLE_ITEMS +
	       (layout->version >= HASHED_TUPLES ? 8 : 0);
}

static bool is_cell(struct mem *mem, const struct python_layout *layout, uint64_t code,
		    uint64_t i)
{
	uint64_t kinds;
	uint8_t kind;

	if (layout->version < HAS_KINDS_FIRST ||
	    mem_read(mem, &kinds, sizeof kinds,
		     code + layout->offsets.code_filename - KINDS_BEFORE) < 0 ||
	    mem_read(mem, &kind, 1, kinds + layout->offsets.bytes_data + i) < 0)
		return false;
	return kind & KIND_CELLS;
}

/* The object that variable i refers to; 0: it is unset. */
static uint64_t value_of(struct mem *mem, const struct python_layout *layout, uint64_t frame,
			 uint64_t code, uint64_t i)
{
	uint64_t slot, object, type;
	char name[5] = { 0 };

	if (mem_read(mem, &slot, sizeof slot,
		     frame + layout->offsets.frame_locals + i * sizeof slot) < 0)
		return 0;
	object = python_slot_object(slot);
	if (object == 0 || !is_cell(mem, layout, code, i))
		return object;
	/* Until the function has created the cell, the slot holds the argument itself. */
	if (mem_read(mem, &type, sizeof type, object + layout->offsets.object_type) < 0 ||
	    mem_read(mem, &type, sizeof type, type + layout->offsets.type_name) < 0 ||
	    mem_read(mem, name, sizeof name, type) < 0 || memcmp(name, "cell", 5) != 0)
		return object;
	return mem_read(mem, &object, sizeof object,
			object + python_head_more(layout) + CELL_VALUE) < 0
		       ? 0
		       : object;
}

static void add(struct remote *remote, const struct name_text *name, uint64_t object)
{
	CLEANUP(text_done) struct text value = { 0 };

	python_value_add(&remote->mem, remote_python_layout(remote->python), object, &value);
	remote->locals = array_grow(remote->locals, remote->local_count,
				    &remote->local_capacity, sizeof *remote->locals);
	remote->locals[remote->local_count++] = (struct local){
		.name = remote_keep_name(remote, name),
		.value = remote_keep(remote, text_string(&value), value.len),
	};
}

void locals_read(struct remote *remote, uint64_t frame, uint64_t code, size_t *out_first,
		 size_t *out_count)
{
	const struct python_layout *layout = remote_python_layout(remote->python);
	const uint32_t before =
		layout->version >= HAS_KINDS_FIRST ? NAMES_BEFORE : OLD_NAMES_BEFORE;
	struct mem *mem = &remote->mem;
	uint64_t names, text, object;
	struct name_text name;
	int32_t count;

	*out_first = remote->local_count;
	*out_count = 0;
	if (!layout->has_unicode ||
	    mem_read(mem, &count, sizeof count, code + layout->offsets.code_local_count) < 0 ||
	    mem_read(mem, &names, sizeof names, code + layout->offsets.code_filename - before) <
		    0)
		return;
	for (int32_t i = 0; i < count && i < MOST_LOCALS; i++) {
		object = value_of(mem, layout, frame, code, (uint64_t)i);
		if (object == 0 ||
		    mem_read(mem, &text, sizeof text,
			     tuple_items(layout, names) + (uint64_t)i * sizeof text) < 0 ||
		    python_text_read(mem, layout, text, &name) < 0 || name.length == 0)
			continue;
		add(remote, &name, object);
	}
	*out_count = remote->local_count - *out_first;
}
