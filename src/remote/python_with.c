#include "remote/python_with.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "remote/process.h"
#include "remote/python.h"
#include "remote/stack.h"
#include "target/python_lines.h"
#include "walk/python_builtin.h"
#include "walk/python_thread.h"

/* From here on the code says which block an instruction is in, before it the frame. */
#define FIRST_WITH_TABLE 0x030b0000U
/* PyCodeObject: co_exceptiontable, after co_consts and co_names. */
#define CODE_EXCEPTIONS 40U
#define TABLE_MAX       65536U
/*
 * PyFrameObject up to 3.10: f_iblock stands 8 bytes behind f_lasti; f_blockstack, 20 PyTryBlock { int
 * type, handler, level }, right before f_localsplus.
 */
#define BLOCK_COUNT_BEHIND 8U
#define BLOCK_SIZE         12U
#define BLOCKS_MAX         20
#define BLOCK_FINALLY      122 /* SETUP_FINALLY: also of `with` */
#define SETUP_WITH         143
#define EXTENDED_ARG       144
/* From here on __exit__ is not bound: what it is called on is the slot behind it. */
#define FIRST_UNBOUND 0x030e0000U
/* Frames of a stack, handlers around an instruction. */
#define FRAMES_MAX   1000U
#define HANDLERS_MAX 32

/* Where a `with` stands in the value stack: the slot of __exit__. */
struct block {
	uint32_t depth; /* slots that an exception there leaves */
	uint32_t handler;
};

struct with_search {
	struct remote *remote;
	const struct python_layout *layout;
	const struct stack_frame *frame;
	struct block blocks[HANDLERS_MAX]; /* from the innermost on */
	size_t block_count;
};

/* co_exceptiontable: numbers of six bits in a byte, 0x40: more follow; 0x80: an entry begins. */
static uint32_t take_number(const uint8_t **at, const uint8_t *end)
{
	uint32_t number = 0;

	while (*at < end) {
		const uint8_t byte = *(*at)++;

		number = number << 6 | (byte & 0x3f);
		if (!(byte & 0x40))
			break;
	}
	return number;
}

/* The entry that covers the instruction; false: an exception there leaves the frame. */
static bool find_entry(const uint8_t *table, size_t len, uint32_t instruction,
		       struct block *out_block)
{
	const uint8_t *at = table, *const end = table + len;

	while (at < end) {
		const uint32_t start = take_number(&at, end);
		const uint32_t size = take_number(&at, end);
		const uint32_t target = take_number(&at, end);
		const uint32_t depth = take_number(&at, end) >> 1;

		if (instruction >= start && instruction - start < size) {
			*out_block = (struct block){ depth, target };
			return true;
		}
	}
	return false;
}

/* A bytes object; NULL: it cannot be read. */
static uint8_t *read_bytes(const struct with_search *search, uint64_t object, size_t *out_len)
{
	const struct python_offsets *offsets = &search->layout->offsets;
	struct mem *mem = &search->remote->mem;
	const uint64_t len = python_word_at(mem, object + offsets->bytes_length);
	uint8_t *bytes;

	if (len == 0 || len > TABLE_MAX)
		return NULL;
	bytes = xmalloc(len);
	if (mem_read(mem, bytes, (uint32_t)len, object + offsets->bytes_data) < 0) {
		free(bytes);
		return NULL;
	}
	*out_len = len;
	return bytes;
}

/*
 * A block, if what it leaves is there now: not one of a handler that nothing was raised for.  Of
 * several that leave as much the outermost is a `with`, the others are inside of it.
 */
static void add_block(struct with_search *search, const struct block *block)
{
	struct block *last =
		search->block_count > 0 ? &search->blocks[search->block_count - 1] : NULL;

	if (last && block->depth == last->depth)
		*last = *block;
	else if (!last || block->depth < last->depth)
		search->blocks[search->block_count++] = *block;
}

/* Handlers are covered by those around them. */
static void find_blocks_by_table(struct with_search *search)
{
	const uint64_t table =
		python_word_at(&search->remote->mem, search->frame->code + CODE_EXCEPTIONS +
							     python_head_more(search->layout));
	uint32_t instruction = search->frame->instruction;
	size_t len = 0;
	CLEANUP(freep) uint8_t *bytes = read_bytes(search, table, &len);

	for (int i = 0; bytes && i < HANDLERS_MAX; i++) {
		struct block block;

		if (!find_entry(bytes, len, instruction, &block))
			return;
		add_block(search, &block);
		instruction = block.handler;
	}
}

static void find_blocks_by_frame(struct with_search *search)
{
	const struct python_offsets *offsets = &search->layout->offsets;
	struct mem *mem = &search->remote->mem;
	const uint64_t frame = search->frame->object;
	const uint64_t blocks =
		frame + offsets->frame_locals - (uint64_t)BLOCKS_MAX * BLOCK_SIZE;
	int32_t count, block[3];

	if (mem_read(mem, &count, sizeof count,
		     frame + offsets->frame_position + BLOCK_COUNT_BEHIND) < 0 ||
	    count > BLOCKS_MAX)
		return;
	while (count-- > 0) {
		if (mem_read(mem, block, sizeof block, blocks + (uint64_t)count * BLOCK_SIZE) <
		    0)
			return;
		if (block[0] == BLOCK_FINALLY && block[1] >= 0 && block[2] > 0)
			add_block(search,
				  &(struct block){ (uint32_t)block[2], (uint32_t)block[1] });
	}
}

/* The instruction that set this handler up, in units of the table of lines. */
static uint32_t setup_of(const struct with_search *search, uint32_t handler)
{
	const bool is_in_units = search->layout->position == PYTHON_POSITION_UNITS;
	/* PyCodeObject.co_code stands behind the int co_firstlineno. */
	const uint64_t field = (search->layout->offsets.code_first_line + 4 + 7) & ~7ULL;
	const uint64_t object =
		python_word_at(&search->remote->mem, search->frame->code + field);
	const uint32_t wanted = is_in_units ? handler * 2 : handler;
	uint32_t argument = 0;
	size_t len = 0;
	CLEANUP(freep) uint8_t *bytes = read_bytes(search, object, &len);

	for (uint32_t i = 0; bytes && i + 1 < len; i += 2) {
		argument = argument << 8 | bytes[i + 1];
		if (bytes[i] == SETUP_WITH &&
		    i + 2 + argument * (is_in_units ? 2 : 1) == wanted)
			return is_in_units ? i / 2 : i;
		if (bytes[i] != EXTENDED_ARG)
			argument = 0;
	}
	return CODE_NO_INSTRUCTION;
}

/* The line of `with`: its handler has it, or up to 3.10 the instruction that set the handler up. */
static uint32_t line_of(const struct with_search *search, const struct block *block)
{
	const struct python_layout *layout = search->layout;
	const uint32_t instruction = layout->version >= FIRST_WITH_TABLE
					     ? block->handler
					     : setup_of(search, block->handler);
	const uint64_t object = python_word_at(
		&search->remote->mem, search->frame->code + layout->offsets.code_table);
	size_t len = 0;
	CLEANUP(freep) uint8_t *table = read_bytes(search, object, &len);

	if (!table || instruction == CODE_NO_INSTRUCTION)
		return 0;
	return python_line_of(layout->table, table, len, search->frame->first_line,
			      instruction);
}

static bool is_exit(const struct with_search *search, const struct python_builtin *builtin)
{
	char name[sizeof "__exit__"];

	return mem_read(&search->remote->mem, name, sizeof name, builtin->name) >= 0 &&
	       memcmp(name, "__exit__", sizeof name) == 0;
}

/* The object whose block ends with the slot's __exit__; 0: there is none. */
static uint64_t lock_of(const struct with_search *search, uint64_t slot)
{
	const struct python_layout *layout = search->layout;
	struct mem *mem = &search->remote->mem;
	const uint64_t object = python_slot_object(python_word_at(mem, slot));
	struct python_builtin builtin;

	if (object == 0 || python_builtin_read(mem, layout, object, &builtin) < 0 ||
	    !is_exit(search, &builtin))
		return 0;
	if (python_word_at(mem, object + layout->offsets.object_type) ==
	    layout->descriptor_type)
		return python_slot_object(python_word_at(mem, slot + sizeof slot));
	return python_slot_object(python_word_at(mem, object + layout->offsets.builtin_self));
}

static size_t withs_of_frame(struct with_search *search, size_t most,
			     struct python_with *out_withs)
{
	const struct python_frame place = { .address = search->frame->object,
					    .code = search->frame->code };
	struct python_slots slots;
	size_t count = 0;

	search->block_count = 0;
	if (search->layout->version >= FIRST_WITH_TABLE)
		find_blocks_by_table(search);
	else
		find_blocks_by_frame(search);
	if (search->block_count == 0 ||
	    python_slots_of(&search->remote->mem, search->layout, &place, &slots) < 0)
		return 0;
	/* __exit__ is the last slot that its block leaves; from 3.14 on the last but one. */
	const uint32_t back = search->layout->version < FIRST_UNBOUND ? 1 : 2;

	for (size_t i = 0; i < search->block_count && count < most; i++) {
		const struct block *block = &search->blocks[i];
		const uint64_t slot =
			slots.begin + ((uint64_t)block->depth - back) * sizeof slot;
		const uint64_t lock =
			block->depth >= back && slot < slots.end ? lock_of(search, slot) : 0;

		if (lock != 0)
			out_withs[count++] = (struct python_with){ lock, search->frame,
								   line_of(search, block) };
	}
	return count;
}

size_t python_withs(struct remote *remote, const struct remote_stack *stack, size_t most,
		    struct python_with *out_withs)
{
	struct with_search search = { .remote = remote,
				      .layout = remote_python_layout(remote->python) };
	size_t count = 0;

	for (size_t i = 0; i < stack->count && i < FRAMES_MAX && count < most; i++) {
		search.frame = &stack->frames[i];
		if (search.frame->kind == STACK_PYTHON && !search.frame->is_doubtful)
			count += withs_of_frame(&search, most - count, out_withs + count);
	}
	return count;
}
