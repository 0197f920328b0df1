#include "remote/python_block.h"

#include <stdlib.h>

#include "base/memory.h"
#include "remote/process.h"
#include "remote/python.h"
#include "target/python_lines.h"
#include "walk/python_thread.h"

/* From 3.11 on the code object lists its blocks; before, the frame does. */
#define FIRST_WITH_TABLE 0x030b0000U
/* PyCodeObject: co_exceptiontable, after co_consts and co_names. */
#define CODE_EXCEPTIONS 40U
#define TABLE_MAX       65536U
/*
 * PyFrameObject up to 3.10: f_iblock is 8 bytes after f_lasti; f_blockstack, 20 PyTryBlock {
 * int type, handler, level }, directly before f_localsplus.
 */
#define BLOCK_COUNT_BEHIND 8U
#define BLOCK_SIZE         12U
#define BLOCKS_MAX         20
#define SETUP_FINALLY      122 /* in f_blockstack also of `with` */
#define SETUP_WITH         143
#define EXTENDED_ARG       144

struct block_search {
	struct remote *remote;
	const struct python_layout *layout;
	const struct python_frame *frame;
	struct python_block *blocks; /* from the innermost on */
	size_t block_count;
	bool has_all; /* also those that cannot be of a `with` */
};

/*
 * co_exceptiontable: numbers of six bits per byte, 0x40: another byte follows; 0x80: first of
 * an entry.
 */
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

/* The entry that covers the instruction; false: an exception there leaves the function. */
static bool find_entry(const uint8_t *table, size_t len, uint32_t instruction,
		       struct python_block *out_block)
{
	const uint8_t *at = table, *const end = table + len;

	while (at < end) {
		const uint32_t start = take_number(&at, end);
		const uint32_t size = take_number(&at, end);
		const uint32_t target = take_number(&at, end);
		const uint32_t depth = take_number(&at, end) >> 1;

		if (instruction >= start && instruction - start < size) {
			*out_block = (struct python_block){ depth, target };
			return true;
		}
	}
	return false;
}

/* Copies a bytes object; NULL: it cannot be read. */
static uint8_t *read_bytes(const struct block_search *search, uint64_t object, size_t *out_len)
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
 * Adds a block, unless its depth exceeds the last one's: a handler's own block, while no
 * exception is handled. Of several with equal depth the outermost may be a `with`, the others
 * are inside of it.
 */
static void add_block(struct block_search *search, const struct python_block *block)
{
	struct python_block *last =
		search->block_count > 0 ? &search->blocks[search->block_count - 1] : NULL;

	if (last && block->depth == last->depth && !search->has_all)
		*last = *block;
	else if (!last || block->depth <= last->depth)
		search->blocks[search->block_count++] = *block;
}

/* Follows handlers outwards: the table covers each by the block around it. */
static void find_blocks_by_table(struct block_search *search)
{
	const uint64_t table =
		python_word_at(&search->remote->mem, search->frame->code + CODE_EXCEPTIONS +
							     python_head_more(search->layout));
	uint32_t instruction = search->frame->instruction;
	size_t len = 0;
	CLEANUP(freep) uint8_t *bytes = read_bytes(search, table, &len);

	for (int i = 0; bytes && i < PYTHON_BLOCKS_MAX; i++) {
		struct python_block block;

		if (!find_entry(bytes, len, instruction, &block))
			return;
		add_block(search, &block);
		instruction = block.handler;
	}
}

static void find_blocks_by_frame(struct block_search *search)
{
	const struct python_offsets *offsets = &search->layout->offsets;
	struct mem *mem = &search->remote->mem;
	const uint64_t frame = search->frame->address;
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
		if (block[0] == SETUP_FINALLY && block[1] >= 0 &&
		    block[2] >= (search->has_all ? 0 : 1))
			add_block(search, &(struct python_block){ (uint32_t)block[2],
								  (uint32_t)block[1] });
	}
}

/* The instruction that set up this handler, in units of the line table. */
static uint32_t setup_of(const struct block_search *search, uint32_t handler)
{
	const bool is_in_units = search->layout->position == PYTHON_POSITION_UNITS;
	/* PyCodeObject.co_code follows the int co_firstlineno. */
	const uint64_t field = (search->layout->offsets.code_first_line + 4 + 7) & ~7ULL;
	const uint64_t object =
		python_word_at(&search->remote->mem, search->frame->code + field);
	const uint32_t wanted = is_in_units ? handler * 2 : handler;
	uint32_t argument = 0;
	size_t len = 0;
	CLEANUP(freep) uint8_t *bytes = read_bytes(search, object, &len);

	for (uint32_t i = 0; bytes && i + 1 < len; i += 2) {
		argument = argument << 8 | bytes[i + 1];
		if ((bytes[i] == SETUP_WITH || bytes[i] == SETUP_FINALLY) &&
		    i + 2 + argument * (is_in_units ? 2 : 1) == wanted)
			return is_in_units ? i / 2 : i;
		if (bytes[i] != EXTENDED_ARG)
			argument = 0;
	}
	return CODE_NO_INSTRUCTION;
}

uint32_t python_instruction_line(struct remote *remote, const struct python_frame *frame,
				 uint32_t instruction, uint32_t first_line)
{
	const struct block_search search = { .remote = remote,
					     .layout = remote_python_layout(remote->python),
					     .frame = frame };
	const struct python_layout *layout = search.layout;
	const uint64_t object =
		python_word_at(&remote->mem, frame->code + layout->offsets.code_table);
	size_t len = 0;
	CLEANUP(freep) uint8_t *table = read_bytes(&search, object, &len);

	if (!table || instruction == CODE_NO_INSTRUCTION)
		return 0;
	return python_line_of(layout->table, table, len, first_line, instruction);
}

uint32_t python_block_setup(struct remote *remote, const struct python_frame *frame,
			    const struct python_block *block)
{
	const struct block_search search = { .remote = remote,
					     .layout = remote_python_layout(remote->python),
					     .frame = frame };

	return search.layout->version >= FIRST_WITH_TABLE ? block->handler
							  : setup_of(&search, block->handler);
}

size_t python_blocks_of(struct remote *remote, const struct python_frame *frame,
			enum python_block_kind kind, struct python_block *out_blocks)
{
	struct block_search search = { .remote = remote,
				       .layout = remote_python_layout(remote->python),
				       .frame = frame,
				       .blocks = out_blocks,
				       .has_all = kind == PYTHON_BLOCKS_ALL };

	if (search.layout->version >= FIRST_WITH_TABLE)
		find_blocks_by_table(&search);
	else
		find_blocks_by_frame(&search);
	return search.block_count;
}

bool python_block_covers(struct remote *remote, const struct python_frame *frame,
			 const struct python_block *block, uint32_t instruction)
{
	const struct python_layout *layout = remote_python_layout(remote->python);
	const struct python_frame at = { .address = frame->address,
					 .code = frame->code,
					 .instruction = instruction };
	struct python_block blocks[PYTHON_BLOCKS_MAX];
	uint32_t setup;
	size_t count;

	if (layout->version < FIRST_WITH_TABLE) {
		setup = python_block_setup(remote, frame, block);
		return setup == CODE_NO_INSTRUCTION || setup <= instruction;
	}
	count = python_blocks_of(remote, &at, PYTHON_BLOCKS_ALL, blocks);
	for (size_t i = 0; i < count; i++) {
		if (blocks[i].handler == block->handler)
			return true;
	}
	return false;
}
