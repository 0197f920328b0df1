#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "agent/core/agent.h"
#include "agent/core/arch.h"
#include "agent/core/memory.h"
#include "agent/trace/map.h"
#include "agent/trace/native/linker.h"
#include "agent/trace/native/native.h"

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

	/* Ruby's callcc() copies stacks, and no event says when. */
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

/*
 * The length of an instruction that does nothing, as assemblers write them (nop, and nopw and
 * nopl with operands and prefixes); 0: it is another.
 */
static u32 nop_bytes(const u8 *code)
{
	u32 prefixes = 0;

	while (prefixes < 8 && (code[prefixes] == 0x66 || code[prefixes] == 0x2e))
		prefixes++;
	code += prefixes;
	if (code[0] == 0x90)
		return prefixes + 1;
	if (code[0] != 0x0f || code[1] != 0x1f || (code[2] & 0x38) != 0)
		return 0;
	const u32 mode = code[2] >> 6, has_index = (code[2] & 7) == 4;

	if (mode == 3 || (mode == 0 && (code[2] & 7) == 5))
		return 0;
	return prefixes + 3 + has_index + (mode == 1 ? 1 : mode == 2 ? 4 : 0);
}

/* Whether it only returns, and padding follows up to the next function. */
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
		const u32 bytes = nop_bytes(code);

		if (bytes == 0)
			return false;
		code += bytes;
	}
	return true;
}

static void write_jump(u64 place, u64 target)
{
	const s64 distance = (s64)(target - (place + JUMP_BYTES));
	const u64 low = place & ~(MEMORY_PAGE - 1);
	u8 jump[JUMP_BYTES] = { 0xe9 };

	/*
	 * Executable meanwhile, too: other threads may be in it, and where a policy forbids to execute
	 * what was written (SELinux' execmod), that is refused here, and not when it is too late.
	 */
	if (distance != (s32)distance ||
	    arch_syscall4(SYS_mprotect, (long)low, MEMORY_PAGE,
			  PROT_READ | PROT_WRITE | PROT_EXEC, 0) != 0)
		return;
	__builtin_memcpy(jump + 1, &(s32){ (s32)distance }, sizeof(s32));
	__builtin_memcpy((void *)place, jump, sizeof jump);
	trace_protect_again(low, low + MEMORY_PAGE, PROT_READ | PROT_EXEC);
}

void trace_linker_begin(void)
{
	const u64 function = (u64)_r_debug.r_brk;

	if (!agent.may_call || function == 0 || !does_nothing(function))
		return;
	last_seen = last_image();
	write_jump(function, (u64)trace_linker_changed);
}
