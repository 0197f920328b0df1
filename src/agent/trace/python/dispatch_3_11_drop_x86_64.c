/*
 * trace_dispatch_3_11_drop - whether the loop drops the arguments of a call that it has made.
 *
 * The instruction that calls a C function drops the arguments behind the call: a generator that
 * was not exhausted is closed there, __del__() is executed.  Nothing tells that the C function
 * has returned by then.  But at the loop's stack pointer is where the function returns to that
 * it has called last: its site.  An instruction has one site for the C function, and others for
 * what it drops:
 *
 * - Before the site is the instruction that called, and that may say what it calls: the
 *   _Py_Dealloc() of the interpreter, or a type's tp_dealloc.
 * - Where the C function has called Python before, the site was another one then.  What is
 *   learnt of sites in this way holds for all calls: they are kept.
 *
 * So what stays unknown is the first object that a site of the second kind drops without the C
 * function having called Python: it is taken for called by that.
 */
#include <stdbool.h>

#include "abi/python_layout.h"
#include "agent/trace/calls.h"
#include "agent/trace/python/dispatch_3_11_internal.h"

/* PyTypeObject.tp_dealloc (Include/cpython/object.h): the same in all versions. */
#define TYPE_DEALLOC 48

#define CALL_BYTES         5  /* call and a distance */
#define CALL_THROUGH_BYTES 3  /* call *TYPE_DEALLOC(%register) */
#define JUMP_THROUGH_BYTES 6  /* jmp *distance(%rip) */
#define LINKAGE_BYTES      16 /* of an entry of the procedure linkage table */

static u64 behind_distance(const u8 *behind)
{
	s32 distance = 0;

	__builtin_memcpy(&distance, behind - sizeof distance, sizeof distance);
	return (u64)behind + (u64)(s64)distance;
}

/* _Py_Dealloc() inlined.  With the stack pointer (4) it would be another instruction. */
static bool calls_through_type(const u8 *site)
{
	const u8 *call = site - CALL_THROUGH_BYTES;

	return call[0] == 0xff && (call[1] & 0xf8) == 0x50 && call[1] != 0x54 &&
	       call[2] == TYPE_DEALLOC;
}

/*
 * Where an entry of the procedure linkage table goes, with the marks of CET or without.  It is in the
 * loop's segment: what was taken for a call may be the end of another instruction and a part of the
 * next one (a move of 0xa5e8e0, `call *%rax`), and then lead anywhere.
 */
static u64 behind_linkage(u64 target)
{
	static const u8 mark[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const u8 *at = (const u8 *)target;

	if (trace_dispatch_3_11.code_bytes < LINKAGE_BYTES ||
	    target - trace_dispatch_3_11.code > trace_dispatch_3_11.code_bytes - LINKAGE_BYTES)
		return target;
	if (__builtin_memcmp(at, mark, sizeof mark) == 0)
		at += sizeof mark;
	if (*at == 0xf2)
		at++;
	if (at[0] != 0xff || at[1] != 0x25)
		return target;
	return loop_word(behind_distance(at + JUMP_THROUGH_BYTES));
}

static bool calls_deallocate(const u8 *site)
{
	if (site[-CALL_BYTES] != 0xe8)
		return false;
	const u64 target = behind_distance(site);

	return target == trace_dispatch_3_11.deallocate ||
	       behind_linkage(target) == trace_dispatch_3_11.deallocate;
}

static bool is_known(u64 site)
{
	for (u32 i = 0; i < DISPATCH_3_11_DROPS && trace_dispatch_3_11.drops[i] != 0; i++) {
		if (trace_dispatch_3_11.drops[i] == site)
			return true;
	}
	return calls_through_type((const u8 *)site) || calls_deallocate((const u8 *)site);
}

/* Under the GIL, which interpreters of 3.11 share. */
static void learn(u64 site)
{
	for (u32 i = 0; i < DISPATCH_3_11_DROPS; i++) {
		if (trace_dispatch_3_11.drops[i] == 0) {
			trace_dispatch_3_11.drops[i] = site;
			return;
		}
	}
}

bool trace_dispatch_3_11_is_dropping(struct call_stack *calls, u64 frame, u64 loop_stack)
{
	const u64 site = loop_word(loop_stack - sizeof(u64));
	const u64 before = calls->site_frame == frame ? calls->site : 0;

	/* Elsewhere: who traces compiled code has exchanged it. */
	if (site == before || !code_ranges_have(trace_dispatch_3_11.layout->loop, site - 1))
		return false;
	if (is_known(site))
		return true;
	if (before != 0) {
		learn(site);
		return true;
	}
	calls->site = site;
	calls->site_frame = frame;
	return false;
}
