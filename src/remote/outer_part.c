#include "remote/outer_part.h"

#include <stddef.h>
#include <string.h>

#include "abi/walk_status.h"
#include "base/read_at.h"
#include "remote/images.h"
#include "remote/memory.h"
#include "remote/process.h"
#include "remote/stack.h"

/*
 * Bytes at a copy's outer end that are compared with the stack as it is now: usually, and at
 * most.
 */
#define SEAM_BYTES      2048U
#define SEAM_BYTES_MOST 65536U
/*
 * How far a function is searched for jumps, and in what pieces; the longest jump has six bytes.
 */
#define JUMP_BYTES_MOST 65536U
#define PIECE_BYTES     1024U
#define JUMP_BYTES      6U

/*
 * Whether the frame's return address, as it was walked, is in the bytes: one word below the
 * frame's sp.
 */
static bool has_return_address(const struct outer_part *part, const struct stack_frame *frame,
			       const uint8_t *bytes, uint64_t low)
{
	uint64_t address = 0;

	memcpy(&address, bytes + (frame->sp - part->word - low), part->word);
	return address == frame->address + 1;
}

/* Address of the outermost return address in the copy; copy_high: there is none. */
static uint64_t outermost_return(const struct outer_part *part,
				 const struct remote_stack *stack)
{
	for (size_t i = stack->count; i-- > 1;) {
		const uint64_t sp = stack->frames[i].sp;

		if (sp <= part->copy_high)
			return sp >= part->copy_low + part->word ? sp - part->word
								 : part->copy_high;
	}
	return part->copy_high;
}

bool outer_part_has_seam(const struct outer_part *part, const struct remote_stack *stack)
{
	const uint64_t copied = part->copy_high - part->copy_low;
	const uint64_t seam = part->copy_high - (copied < SEAM_BYTES ? copied : SEAM_BYTES);
	const uint64_t outermost = outermost_return(part, stack);
	const uint64_t low = outermost < seam ? outermost : seam;
	uint8_t now[SEAM_BYTES_MOST];
	const size_t size = part->copy_high - low;

	if (outermost == part->copy_high || size > sizeof now || part->remote->fd < 0 ||
	    !read_at(part->remote->fd, now, size, low))
		return false;
	for (size_t i = 1; i < stack->count; i++) {
		const struct stack_frame *frame = &stack->frames[i];

		if (frame->sp < low + part->word || frame->sp > part->copy_high)
			continue;
		if (!has_return_address(part, frame, now, low))
			return false;
	}
	return true;
}

/* The bounds of the function at the address; false: no unwind rule gives them. */
static bool find_function(const struct outer_part *part, uint64_t address, uint64_t *out_begin,
			  uint64_t *out_end)
{
	struct remote *remote = part->remote;
	const struct remote_image *image = remote_images_find(&remote->images, address);
	struct eh_lookup found;

	if (!image ||
	    eh_lookup_find(&found, &remote->mem, &image->native, address) != WALK_COMPLETE)
		return false;
	*out_begin = found.fde.begin;
	*out_end = found.fde.end;
	return true;
}

/* Whether the function at `address` has a jump into [begin, end). */
static bool ends_in_a_jump(const struct outer_part *part, uint64_t address, uint64_t begin,
			   uint64_t end)
{
	uint8_t piece[PIECE_BYTES];
	uint64_t at, last;

	if (address == 0 || !find_function(part, address, &at, &last))
		return false;
	if (last - at > JUMP_BYTES_MOST)
		last = at + JUMP_BYTES_MOST;
	for (; at < last; at += sizeof piece - JUMP_BYTES) {
		const uint32_t len =
			last - at < sizeof piece ? (uint32_t)(last - at) : sizeof piece;

		if (memory_read(&part->remote->mem, piece, len, at) < 0)
			return false;
		if (native_jumps_into(&part->remote->mem, piece, len, at, begin, end))
			return true;
	}
	return false;
}

/*
 * Whether the code is an i386 PLT stub, which may jump anywhere: jmp *address or jmp
 * *offset(%ebx), perhaps after endbr32.
 */
static bool is_i386_stub(const struct outer_part *part, uint64_t address)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfb };
	uint8_t bytes[6];

	if (part->word != 4 ||
	    memory_read(&part->remote->mem, bytes, sizeof bytes, address) < 0)
		return false;
	const uint8_t *jump =
		memcmp(bytes, endbr, sizeof endbr) == 0 ? bytes + sizeof endbr : bytes;

	return jump[0] == 0xff && (jump[1] == 0x25 || jump[1] == 0xa3);
}

bool outer_part_leads_inwards(const struct outer_part *part, const struct remote_stack *stack)
{
	uint64_t begin, end, other;

	for (size_t i = 1; i < stack->count; i++) {
		const struct stack_frame *frame = &stack->frames[i];

		if (frame->sp <= part->copy_high)
			continue;
		if (!find_function(part, stack->frames[i - 1].address, &begin, &end))
			return false;
		if (!native_call_may_lead(&part->remote->mem, frame->address + 1, begin,
					  &other) &&
		    !is_i386_stub(part, other) && !ends_in_a_jump(part, other, begin, end))
			return false;
	}
	return true;
}
