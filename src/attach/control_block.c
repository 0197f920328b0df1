#include "attach/control_block.h"

#include <string.h>

#include "attach/libc.h"

enum {
	OFFSET_SELF = 0,
	OFFSET_VECTOR = 8,
	OFFSET_SELF_AGAIN = 16,
	OFFSET_MULTIPLE_THREADS = 24,
	OFFSET_STACK_GUARD = 40,
	OFFSET_POINTER_GUARD = 48,
};
/* The vector's first entry has their number; the pointer points behind it. */
#define VECTOR_ENTRY 16

/* struct rseq (linux/rseq.h): its size, and cpu_id. */
#define RSEQ_BYTES     32
#define RSEQ_PROCESSOR 4

size_t control_block_below(const struct attach_libc *libc)
{
	const uint64_t variables = tls_blocks_below(&libc->tls);
	const uint64_t rseq =
		libc->has_rseq && libc->rseq_offset < 0 ? (uint64_t)-libc->rseq_offset : 0;

	return variables > rseq ? variables : rseq;
}

uint64_t control_block_processor_place(const struct control_block_input *input)
{
	const struct attach_libc *libc = input->libc;
	const int64_t offset = libc->rseq_offset;

	/* struct rseq is in the control block, or below it. */
	if (!libc->has_rseq || offset > (int64_t)(libc->thread_bytes - RSEQ_BYTES))
		return 0;
	return input->thread_pointer + (uint64_t)offset + RSEQ_PROCESSOR;
}

size_t control_block_bytes(const struct attach_libc *libc)
{
	return libc->thread_bytes;
}

uint64_t control_block_tid_place(const struct control_block_input *input)
{
	return input->thread_pointer + input->libc->thread_tid_offset;
}

static void put(uint8_t *block, size_t offset, uint64_t word)
{
	memcpy(block + offset, &word, sizeof word);
}

void control_block_write(const struct control_block_input *input, void *out_block)
{
	const uint32_t one = 1;
	uint8_t *block = out_block;

	memset(block, 0, control_block_bytes(input->libc));
	put(block, OFFSET_SELF, input->thread_pointer);
	put(block, OFFSET_VECTOR, input->vector + VECTOR_ENTRY);
	put(block, OFFSET_SELF_AGAIN, input->thread_pointer);
	memcpy(block + OFFSET_MULTIPLE_THREADS, &one, sizeof one);
	put(block, OFFSET_STACK_GUARD, input->stack_guard);
	put(block, OFFSET_POINTER_GUARD, input->pointer_guard);
}
