#include "vantage/agent/trace/trace_map.h"
#include "vantage/agent/trace/native/trace_linker.h"

#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "agent/core/agent.h"
#include "agent/core/arch.h"
#include "vantage/agent/trace/native/trace_native.h"
#include "vantage/agent/trace/native/trace_sleds.h"

#define JUMP_BYTES 5U
/* Functions begin at multiples of it. */
#define ALIGNMENT 16U
#define RET       0xc3

static const struct link_map *last_seen;

static const struct link_map *last_image(void)
{
	const struct link_map *image = _r_debug.r_map;

	while (image != NULL && image->l_next != NULL)
		image = image->l_next;
	return image;
}

static void look_at_new(const struct link_map *first)
{
	static const char callcc[] = "/continuation.so";

	trace_sleds_look(first);
	/* Ruby's callcc() copies stacks, and nothing tells when. */
	for (const struct link_map *image = first; image != NULL; image = image->l_next) {
		const u64 length = strlen(image->l_name);

		if (length >= sizeof callcc - 1 &&
		    strcmp(image->l_name + length - (sizeof callcc - 1), callcc) == 0)
			trace_native_see_no_ends();
	}
}

/*
 * With the linker's lock, so each time.  New images stand behind the others; if the last one of
 * before is not there any more, some have gone and none have come.
 */
void trace_linker_on_change(void)
{
	const struct link_map *image = _r_debug.r_map;

	while (image != NULL && image != last_seen)
		image = image->l_next;
	if (image != NULL && image->l_next != NULL)
		look_at_new(image->l_next);
	last_seen = last_image();
}

/* Whether it only returns, and what is behind that is nobody's. */
static bool does_nothing(u64 function)
{
	static const u8 landing[] = { 0xf3, 0x0f, 0x1e, 0xfa }; /* endbr64 */
	const u8 *code = (const u8 *)function;

	if (function % ALIGNMENT != 0)
		return false;
	if (__builtin_memcmp(code, landing, sizeof landing) == 0)
		code += sizeof landing;
	if (*code++ != RET)
		return false;
	while ((u64)code % ALIGNMENT != 0) {
		const u32 bytes = trace_sleds_nop_bytes(code);

		if (bytes == 0)
			return false;
		code += bytes;
	}
	return true;
}

static bool write_jump(u64 place, u64 target)
{
	const s64 distance = (s64)(target - (place + JUMP_BYTES));
	const u64 low = place & ~(MEMORY_PAGE - 1);
	u8 jump[JUMP_BYTES] = { 0xe9 };

	/* Executable meanwhile, too: see write_calls() in trace_sleds_x86_64.c. */
	if (distance != (s32)distance ||
	    arch_syscall4(SYS_mprotect, (long)low, MEMORY_PAGE,
			  PROT_READ | PROT_WRITE | PROT_EXEC, 0) != 0)
		return false;
	__builtin_memcpy(jump + 1, &(s32){ (s32)distance }, sizeof(s32));
	__builtin_memcpy((void *)place, jump, sizeof jump);
	trace_protect_again(low, low + MEMORY_PAGE, PROT_READ | PROT_EXEC);
	return true;
}

bool trace_linker_begin(void)
{
	const u64 function = (u64)_r_debug.r_brk;

	last_seen = last_image();
	return function != 0 && does_nothing(function) &&
	       write_jump(function, (u64)trace_linker_changed);
}
