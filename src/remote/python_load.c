#include "remote/python_load.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "remote/process.h"
#include "remote/python.h"
#include "remote/python_opcodes.h"
#include "walk/python_builtin.h"
#include "walk/python_thread.h"

/* Limits of what is read, for one frame. */
#define UNITS_MAX   16384U
#define NAMES_MAX   1024U
#define CLASSES_MAX 8
#define CHAIN_MAX   4
/* Steps of an object, beside its entries, as its pages may not be read yet; of a name's text. */
#define OBJECT_STEPS 256U
#define NAME_STEPS   16U
/* From 3.14 on a tuple has its hash before its items. */
#define FIRST_HASHED 0x030e0000U
/* Variable-size objects: ob_size, then the items. */
#define SIZE_OFFSET  16U
#define ITEMS_OFFSET 24U
/* PyTypeObject.tp_base and tp_dict, PyModuleObject.md_dict, PyCellObject.ob_ref. */
#define TYPE_BASE   256U
#define TYPE_DICT   264U
#define MODULE_DICT 16U
#define CELL_VALUE  16U

static const struct python_layout *layout_of(struct python_bytecode *bytecode)
{
	return remote_python_layout(bytecode->remote->python);
}

static bool is_old(const struct python_layout *layout)
{
	return layout->chain == PYTHON_CHAIN_OBJECTS;
}

/* Where the code's units are, and how many bytes; 0: not known. */
static uint64_t find_units(const struct python_layout *layout, struct mem *mem, uint64_t code,
			   uint64_t *out_size)
{
	const struct python_offsets *offsets = &layout->offsets;
	uint64_t object;

	if (!is_old(layout)) {
		*out_size =
			2 * python_word_at(mem, code + python_head_more(layout) + SIZE_OFFSET);
		return code + offsets->code_instructions;
	}
	/* co_code follows the int co_firstlineno. */
	object = python_word_at(mem, code + ((offsets->code_first_line + 4U + 7U) & ~7U));
	*out_size = python_word_at(mem, object + offsets->bytes_length);
	return object != 0 ? object + offsets->bytes_data : 0;
}

static void find_names(struct python_bytecode *bytecode)
{
	const struct python_layout *layout = layout_of(bytecode);
	struct mem *mem = &bytecode->remote->mem;
	const uint64_t more = python_head_more(layout);
	/* co_names: after co_code and co_consts; from 3.11 on after co_consts. */
	const uint64_t field =
		is_old(layout) ? ((layout->offsets.code_first_line + 4U + 7U) & ~7U) + 16
			       : more + 32;
	const uint64_t tuple = python_word_at(mem, bytecode->frame->code + field);
	const uint64_t count = tuple != 0 ? python_word_at(mem, tuple + more + SIZE_OFFSET) : 0;

	bytecode->names =
		tuple + more + ITEMS_OFFSET + (layout->version >= FIRST_HASHED ? 8 : 0);
	bytecode->name_count = count <= NAMES_MAX ? (uint32_t)count : 0;
}

static uint64_t name_at(struct python_bytecode *bytecode, uint32_t number)
{
	return number < bytecode->name_count
		       ? python_word_at(&bytecode->remote->mem, bytecode->names + 8ULL * number)
		       : 0;
}

/* Counts steps; false: there were not as many left. */
static bool take(struct python_bytecode *bytecode, uint32_t steps)
{
	const bool is_enough = *bytecode->steps_left >= steps;

	*bytecode->steps_left -= is_enough ? steps : *bytecode->steps_left;
	return is_enough;
}

bool python_bytecode_name(struct python_bytecode *bytecode, const char *name,
			  uint32_t *out_number)
{
	const struct python_layout *layout = layout_of(bytecode);
	struct mem *mem = &bytecode->remote->mem;

	for (uint32_t i = 0; i < bytecode->name_count && take(bytecode, NAME_STEPS); i++) {
		if (!python_text_is(mem, layout, name_at(bytecode, i), name))
			continue;
		*out_number = i;
		return true;
	}
	return false;
}

bool python_bytecode_open(struct remote *remote, const struct python_frame *frame,
			  uint32_t *steps_left, struct python_bytecode *out_bytecode)
{
	*out_bytecode = (struct python_bytecode){ .remote = remote,
						  .frame = frame,
						  .steps_left = steps_left };
	out_bytecode->opcodes = python_opcodes_of(layout_of(out_bytecode)->version);
	if (!out_bytecode->opcodes)
		return false;
	find_names(out_bytecode);
	return out_bytecode->name_count > 0;
}

bool python_bytecode_read(struct python_bytecode *bytecode)
{
	struct mem *mem = &bytecode->remote->mem;
	uint64_t size = 0;
	const uint64_t address =
		find_units(layout_of(bytecode), mem, bytecode->frame->code, &size);
	uint8_t *bytes;

	if (address == 0 || size < 2 || size > 2ULL * UNITS_MAX ||
	    !take(bytecode, (uint32_t)size / 2))
		return false;
	bytes = xmalloc(size);
	if (mem_read(mem, bytes, (uint32_t)size, address) < 0) {
		free(bytes);
		return false;
	}
	bytecode->bytes = bytes;
	bytecode->count = (uint32_t)(size / 2);
	return true;
}

void python_bytecode_close(struct python_bytecode *bytecode)
{
	free(bytecode->bytes);
	bytecode->bytes = NULL;
}

static uint8_t opcode_at(struct python_bytecode *bytecode, uint32_t unit)
{
	return bytecode->bytes[2 * unit];
}

/* An instruction that ends with this unit, without its caches. */
struct instruction {
	uint8_t opcode;
	uint32_t argument;
	uint32_t begin; /* its first unit */
};

static struct instruction instruction_at(struct python_bytecode *bytecode, uint32_t unit)
{
	const uint8_t *bytes = bytecode->bytes;
	struct instruction found = { bytes[2 * unit], bytes[2 * unit + 1], unit };

	if (unit > 0 && opcode_at(bytecode, unit - 1) == bytecode->opcodes->extended_arg) {
		found.argument |= (uint32_t)bytes[2 * unit - 1] << 8;
		found.begin--;
	}
	return found;
}

/* The value that a dictionary, or an object's attributes, have for the name: a key, by its address. */
static uint64_t find_value(struct python_bytecode *bytecode,
			   const struct python_attribute_table *table, uint64_t name)
{
	struct mem *mem = &bytecode->remote->mem;
	struct python_keys keys;

	if (table->keys == 0 || !take(bytecode, OBJECT_STEPS) ||
	    python_keys_read(mem, layout_of(bytecode), table->keys, &keys) < 0)
		return 0;
	for (uint64_t i = 0; i < keys.count && take(bytecode, 1); i++) {
		const uint64_t entry = keys.entries + i * keys.entry_size + keys.key;

		if (python_word_at(mem, entry) == name)
			return python_word_at(mem, table->values != 0 ? table->values + i * 8
								      : entry + 8);
	}
	return 0;
}

static uint64_t find_in_dict(struct python_bytecode *bytecode, uint64_t dict, uint64_t name)
{
	struct python_attribute_table table = { 0 };

	python_table_of_dict(&bytecode->remote->mem, layout_of(bytecode), dict, &table);
	return find_value(bytecode, &table, name);
}

/* In a class and those that it is derived from: each one's first. */
static uint64_t find_in_classes(struct python_bytecode *bytecode, uint64_t type, uint64_t name)
{
	struct mem *mem = &bytecode->remote->mem;
	const uint64_t more = python_head_more(layout_of(bytecode));
	uint64_t value = 0;

	for (int i = 0; i < CLASSES_MAX && type != 0 && value == 0; i++) {
		value = find_in_dict(bytecode, python_word_at(mem, type + more + TYPE_DICT),
				     name);
		type = python_word_at(mem, type + more + TYPE_BASE);
	}
	return value;
}

static uint64_t find_attribute(struct python_bytecode *bytecode, uint64_t object, uint64_t name)
{
	const struct python_layout *layout = layout_of(bytecode);
	struct mem *mem = &bytecode->remote->mem;
	const uint64_t type = python_word_at(mem, object + layout->offsets.object_type);
	struct python_attribute_table table;
	char type_name[sizeof "module"] = { 0 };
	uint64_t value;

	if (type == 0 || !take(bytecode, OBJECT_STEPS))
		return 0;
	if (type == layout->type_type)
		return find_in_classes(bytecode, object, name);
	if (mem_read(mem, type_name, sizeof type_name,
		     python_word_at(mem, type + layout->offsets.type_name)) >= 0 &&
	    memcmp(type_name, "module", sizeof type_name) == 0)
		return find_in_dict(
			bytecode,
			python_word_at(mem, object + python_head_more(layout) + MODULE_DICT),
			name);
	table = python_attribute_table_of(mem, layout, object, type);
	value = find_value(bytecode, &table, name);
	return value != 0 ? value : find_in_classes(bytecode, type, name);
}

static uint64_t local_at(struct python_bytecode *bytecode, uint64_t number)
{
	return python_slot_object(
		python_word_at(&bytecode->remote->mem,
			       bytecode->frame->address +
				       layout_of(bytecode)->offsets.frame_locals + 8 * number));
}

/* What a nested function shares with the one around it. */
static uint64_t cell_at(struct python_bytecode *bytecode, uint32_t number)
{
	const struct python_layout *layout = layout_of(bytecode);
	struct mem *mem = &bytecode->remote->mem;
	int32_t local_count = 0;
	uint64_t cell;

	/* Up to 3.10 cells are counted on their own, after the local variables. */
	if (is_old(layout) && (python_read_int(mem, &local_count, bytecode->frame->code,
					       layout->offsets.code_local_count) < 0 ||
			       local_count < 0))
		return 0;
	cell = local_at(bytecode, number + (uint64_t)local_count);
	return cell != 0 ? python_word_at(mem, cell + python_head_more(layout) + CELL_VALUE)
			 : 0;
}

/* f_globals: beside f_code up to 3.10, the second word in 3.11, then the fourth. */
static uint64_t global_named(struct python_bytecode *bytecode, uint64_t name)
{
	const struct python_layout *layout = layout_of(bytecode);
	const uint64_t field = is_old(layout) ? layout->offsets.frame_code + 16U
			       : layout->chain == PYTHON_CHAIN_ENTRY_FLAG ? 8U
									  : 24U;

	return find_in_dict(
		bytecode,
		python_word_at(&bytecode->remote->mem, bytecode->frame->address + field), name);
}

/* The objects that a unit may load. */
struct objects {
	struct python_loaded rows[PYTHON_OBJECTS_MAX];
	size_t count;
};

static void add_object(struct objects *objects, uint64_t object, uint32_t begin)
{
	if (object != 0 && objects->count < PYTHON_OBJECTS_MAX)
		objects->rows[objects->count++] = (struct python_loaded){ object, begin };
}

static void add_variable(struct python_bytecode *bytecode, struct instruction at,
			 struct objects *objects)
{
	const struct python_opcodes *opcodes = bytecode->opcodes;
	uint64_t object = 0;

	if (python_opcode_is(&opcodes->fast, at.opcode))
		object = local_at(bytecode, at.argument);
	else if (python_opcode_is(&opcodes->pairs, at.opcode))
		object = local_at(bytecode, at.argument & 15);
	else if (at.opcode == opcodes->deref)
		object = cell_at(bytecode, at.argument);
	else if (at.opcode == opcodes->name)
		object = global_named(bytecode, name_at(bytecode, at.argument));
	add_object(objects, object, at.begin);
}

static struct objects variables_before(struct python_bytecode *bytecode, uint32_t end)
{
	const struct python_opcodes *opcodes = bytecode->opcodes;
	struct objects objects = { .count = 0 };
	struct instruction at;

	if (end > 0)
		add_variable(bytecode, instruction_at(bytecode, end - 1), &objects);
	if (end <= opcodes->global_caches)
		return objects;
	at = instruction_at(bytecode, end - 1 - opcodes->global_caches);
	if (python_opcode_is(&opcodes->global, at.opcode))
		add_object(
			&objects,
			global_named(bytecode,
				     name_at(bytecode, at.argument >> opcodes->global_shift)),
			at.begin);
	return objects;
}

/*
 * What the instructions that end before that unit have loaded: a variable, or attributes of one,
 * of which the last is read first.
 */
static struct objects loaded_before(struct python_bytecode *bytecode, uint32_t end)
{
	const struct python_opcodes *opcodes = bytecode->opcodes;
	struct objects all = variables_before(bytecode, end);
	uint64_t names[CHAIN_MAX];

	for (int depth = 0; depth < CHAIN_MAX && end > opcodes->attribute_caches; depth++) {
		const struct instruction at =
			instruction_at(bytecode, end - 1 - opcodes->attribute_caches);

		if (!python_opcode_is(&opcodes->attribute, at.opcode))
			break;
		names[depth] = name_at(bytecode, at.argument >> opcodes->attribute_shift);
		end = at.begin;
		const struct objects bases = variables_before(bytecode, end);

		for (size_t i = 0; i < bases.count; i++) {
			uint64_t object = bases.rows[i].object;

			for (int j = depth; j >= 0 && object != 0; j--)
				object = find_attribute(bytecode, object, names[j]);
			add_object(&all, object, bases.rows[i].begin);
		}
	}
	return all;
}

/* After a call without arguments whose result is dropped; else 0. */
static uint32_t after_call(struct python_bytecode *bytecode, uint32_t unit)
{
	const struct python_opcodes *opcodes = bytecode->opcodes;
	const uint32_t call = unit + 1 + opcodes->method_caches, after = call + opcodes->call;

	return after < bytecode->count && bytecode->bytes[2 * call + 1] == 0 &&
			       opcode_at(bytecode, after) == opcodes->pop_top
		       ? after
		       : 0;
}

bool python_bytecode_method(struct python_bytecode *bytecode, uint32_t unit,
			    uint32_t name_number, struct python_method *out_method)
{
	const struct python_opcodes *opcodes = bytecode->opcodes;
	const struct instruction at = instruction_at(bytecode, unit);

	if (!python_opcode_is(&opcodes->method, at.opcode) ||
	    at.argument >> opcodes->attribute_shift != name_number ||
	    !take(bytecode, OBJECT_STEPS))
		return false;
	const struct objects objects = loaded_before(bytecode, at.begin);

	*out_method = (struct python_method){ .unit = unit,
					      .after = after_call(bytecode, unit),
					      .count = objects.count };
	memcpy(out_method->objects, objects.rows, sizeof objects.rows);
	return true;
}

uint32_t python_bytecode_position(struct python_bytecode *bytecode)
{
	const bool is_in_bytes = layout_of(bytecode)->position == PYTHON_POSITION_BYTES;

	return is_in_bytes ? bytecode->frame->instruction / 2 : bytecode->frame->instruction;
}

uint32_t python_bytecode_instruction(struct python_bytecode *bytecode, uint32_t unit)
{
	return layout_of(bytecode)->position == PYTHON_POSITION_BYTES ? unit * 2 : unit;
}
