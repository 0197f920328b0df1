/*
 * frame_pointer - finds the frame pointer of a blocked thread's frame, which /proc does not give.
 *
 * /proc/PID/task/TID/syscall has a blocked thread's stack pointer and pc, and no other
 * register.  Nearly all frames can be unwound by the stack pointer alone, or by a frame pointer
 * saved further in.  The others (functions with alloca(), and code built with frame pointers or
 * without optimization that makes system calls itself) need a search:
 *
 *   by the prologue   adds up, from the function's first instruction on, how far pushes and
 *                     subtractions move the stack pointer below the frame pointer.
 *   by a scan         otherwise looks through the words of the stack for a pair [saved frame
 *                     pointer, return address].
 *
 * A result is believed only if its return address follows a call whose target, through the PLT
 * if there is one, is this very function.  The target of an indirect call is unknown: then the
 * prologue's result is believed, and the scan's is not.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct mem;

enum frame_pointer_means {
	FRAME_POINTER_UNKNOWN,
	FRAME_POINTER_BY_PROLOGUE,
	FRAME_POINTER_BY_SCAN, /* a guess */
};

/*
 * Finds the frame pointer at pc in the function that begins at `begin`. Sets *out_fp only if it
 * was found.
 */
enum frame_pointer_means frame_pointer_find(struct mem *mem, uint64_t begin, uint64_t pc,
					    uint64_t sp, uint64_t *out_fp);
/* Whether a rule of walk/native.h needs the frame pointer. */
bool frame_pointer_is_needed(uint64_t rule);
/* Value of regs.fp and regs.bx while they are unknown: a step that needs them fails. */
#define FRAME_POINTER_UNKNOWN_VALUE 1
