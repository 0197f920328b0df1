/*
 * frame_pointer - the frame pointer of a frame, where /proc does not say it.
 *
 * /proc/PID/task/TID/syscall has a blocked thread's stack pointer and pc, and no other register.
 * Nearly all frames are found by the stack pointer alone, or by a frame pointer that one further
 * in has saved.  The others (functions with alloca(), and code built with frame pointers or
 * without optimization that makes system calls itself) are found so:
 *
 *   by the prologue   from the function's first instruction on it is counted how far the stack
 *                     pointer is moved below the frame pointer: pushes and subtractions.
 *   by a scan         else the words of the stack are looked through for a pair [saved frame
 *                     pointer, return address].
 *
 * Either is believed only if what would be the return address stands behind a call, whose
 * target, through the PLT where there is one, is this very function; of an indirect call no
 * target is known: then the prologue's is believed, and a scan's is not.
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
 * Of the function that begins at `begin` and stands at pc with this stack pointer.  *out_fp is
 * only set if it was found.
 */
enum frame_pointer_means frame_pointer_find(struct mem *mem, uint64_t begin, uint64_t pc,
					    uint64_t sp, uint64_t *out_fp);
/* Whether a rule of walk/native.h needs the frame pointer. */
bool frame_pointer_is_needed(uint64_t rule);
/* Stands in regs.fp and regs.bx while they are not known: a step that needs them fails. */
#define FRAME_POINTER_UNKNOWN_VALUE 1
