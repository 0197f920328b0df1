/* trap_shadow - see trap_shadow.h */
#include "trap_shadow.h"
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

static void shadow_push(struct shadow *s, uint64_t slot, uint64_t ip, uint64_t signal_sp)
{
	if (s->depth == SHADOW_FRAMES_MAX)
		abort();
	s->signals += signal_sp != 0;
	s->entries[s->depth++] = (struct shadow_entry){ slot, ip, signal_sp };
}

static void shadow_pop(struct shadow *s)
{
	s->signals -= s->entries[--s->depth].signal_sp != 0;
}

/*
 * rt_sigreturn leaves the handler, wherever its stack was.  The next trap comes after one
 * instruction of what was interrupted.
 */
static void shadow_leave_signal(struct shadow *s)
{
	if (s->signals == 0)
		return;
	while (s->entries[s->depth - 1].signal_sp == 0)
		shadow_pop(s);
	s->last_ip = s->entries[s->depth - 1].ip;
	s->last_sp = s->entries[s->depth - 1].signal_sp;
	shadow_pop(s);
}

static int was_sigreturn(const struct shadow *s)
{
	uint8_t code[2];

	memcpy(code, (const void *)(uintptr_t)s->last_ip, sizeof code);
	return code[0] == 0x0f && code[1] == 0x05 && s->last_ax == 15;
}

void shadow_follow(struct shadow *s, const greg_t *gregs)
{
	uint64_t ip = (uint64_t)gregs[REG_RIP];
	uint64_t sp = (uint64_t)gregs[REG_RSP];

	if (s->last_ip != 0 && was_sigreturn(s))
		shadow_leave_signal(s);
	while (s->depth > 0 && s->entries[s->depth - 1].signal_sp == 0 &&
	       s->entries[s->depth - 1].slot < sp)
		shadow_pop(s);
	if (s->last_ip != 0 && sp == s->last_sp - 8) {
		uint64_t word;
		memcpy(&word, (const void *)(uintptr_t)sp, sizeof word);
		if (word > s->last_ip && word <= s->last_ip + 8)
			shadow_push(s, sp, word, 0);
	}
	s->last_ip = ip;
	s->last_sp = sp;
	s->last_ax = (uint64_t)gregs[REG_RAX];
}

static struct shadow_entry first_callers[SHADOW_FRAMES_MAX];
static uint32_t first_caller_count;

static _Unwind_Reason_Code add_first_caller(struct _Unwind_Context *context, void *skip)
{
	uint64_t slot = _Unwind_GetCFA(context) - 8;
	uint64_t ip = _Unwind_GetIP(context);
	uint64_t word;

	if (*(int *)skip > 0) {
		--*(int *)skip;
		return _URC_NO_REASON;
	}
	if (ip == 0) /* beyond the outermost frame */
		return _URC_NO_REASON;
	memcpy(&word, (const void *)(uintptr_t)slot, sizeof word);
	if (word != ip || first_caller_count == SHADOW_FRAMES_MAX)
		abort();
	first_callers[first_caller_count++] = (struct shadow_entry){ slot, ip, 0 };
	return _URC_NO_REASON;
}

__attribute__((noinline)) void shadow_learn_callers(void)
{
	int skip = 2; /* this function and the one that calls it, which will have returned */

	first_caller_count = 0;
	_Unwind_Backtrace(add_first_caller, &skip);
}

void shadow_begin(struct shadow *s)
{
	s->depth = 0;
	s->signals = 0;
	s->last_ip = 0;
	for (uint32_t i = first_caller_count; i > 0; i--)
		shadow_push(s, first_callers[i - 1].slot, first_callers[i - 1].ip, 0);
}

/* struct rt_sigframe: the address the handler returns to, then the context. */
void shadow_enter_signal(struct shadow *s, const ucontext_t *interrupted, uint64_t handler_slot)
{
	const greg_t *gregs = interrupted->uc_mcontext.gregs;
	uint64_t slot = (uintptr_t)interrupted - 8;
	uint64_t word;

	/* The next signal may come before what the last one interrupted goes on. */
	if (s->last_ip != 0 && was_sigreturn(s))
		shadow_leave_signal(s);
	shadow_push(s, slot, (uint64_t)gregs[REG_RIP], (uint64_t)gregs[REG_RSP]);
	memcpy(&word, (const void *)(uintptr_t)slot, sizeof word);
	shadow_push(s, slot, word, 0);
	memcpy(&word, (const void *)(uintptr_t)handler_slot, sizeof word);
	shadow_push(s, handler_slot, word, 0);
	s->last_ip = 0;
}
