/*
 * Where the loop has its next instruction, its stack pointer, the instruction's argument and
 * the thread's state: in the same register, or word of its stack, wherever it goes from one
 * instruction to the next, for each of these jumps may be to any of 256 places.  But which,
 * the compiler chose.
 *
 * So code that is known is executed, and at many of its instructions each place is looked at:
 * the one that was always right is the one.
 */
#include "vantage/agent/trace_frames.h"

#include <stddef.h>

#include "vantage/agent/trace_frames_own.h"

/* max() of numbers, called with different counts, so that arguments differ. */
static const char source[] = "p=max\n"
			     "a=p(1,2)\n"
			     "b=p(1,2,3)\n"
			     "c=p(a,b,5,7,11)\n"
			     "p(2,4,6,8,10,12,14)\n"
			     "d=a+b\n"
			     "e=p(d,c,p(a,b),p(1,2,3,4,5,6,7,8,9),4)\n"
			     "f=p(a,p(b,c,d,p(e,a)),1)+p(a,b,c,d,e,1,2,3,4,5,6,7,8,9,10,11)\n"
			     "p(f,f)\n"
			     "r=f-16\n";
#define RESULT 6
/* Each time the code is executed. */
#define LEAST_EVENTS 60U
#define LEAST_CALLS  10U

/* rbx, rbp, r12 to r15, as a stub pushes them: what a called function leaves alone. */
#define KEPT_REGISTERS (1ULL << 0 | 1ULL << 1 | 1ULL << 2 | 1ULL << 3 | 1ULL << 10 | 1ULL << 11)
#define ALL_REGISTERS  ((1ULL << FRAMES_REGISTERS) - 1)

_Static_assert(FRAMES_PLACES == 64, "a bit for each place");

#define CODE_UNITS 16 /* ob_size: of its instructions */

static struct {
	u64 code, callee; /* what is executed, and what it calls */
	u64 cframe;
	/* The places that have been right so far. */
	u64 next, stack, argument, state;
	u32 events, calls;
	bool is_cframe_fixed;
	u32 next_place; /* FRAMES_NOWHERE: it is looked for */
} watch;

/* Places whose word is in [first, last], and a multiple of `step`. */
static u64 places_between(const u64 *places, u64 first, u64 last, u64 step)
{
	u64 found = 0;

	for (u32 i = 0; i < FRAMES_PLACES; i++) {
		if (i != FRAMES_TARGET && places[i] >= first && places[i] <= last &&
		    places[i] % step == 0)
			found |= 1ULL << i;
	}
	return found;
}

static u64 places_of(const u64 *places, u64 word)
{
	return places_between(places, word, word, 1);
}

/* An int is in half of a register; what is in the other half is not said. */
static u64 places_of_int(const u64 *places, u32 number)
{
	u64 found = 0;

	for (u32 i = 0; i < FRAMES_REGISTERS; i++)
		found |= (u32)places[i] == number ? 1ULL << i : 0;
	return found;
}

static u64 places_of_next(const u64 *places, u64 opcode)
{
	const u64 first = watch.code + CODE_INSTRUCTIONS;
	const u64 count = frames_word(watch.code + CODE_UNITS);
	const u64 inside = places_between(places, first, first + 2 * (count - 1), 2);
	u64 found = 0;

	for (u32 i = 0; i < FRAMES_PLACES; i++) {
		if (inside >> i & 1 && *(const u8 *)places[i] == opcode)
			found |= 1ULL << i;
	}
	return found;
}

/* In the frame's part of the stack; at a call, where what is called is where it should be. */
static u64 places_of_stack(const u64 *places, u64 frame, u64 opcode, u32 argument)
{
	const u64 first = frame + FRAME_LOCALS + 8 * *(const u32 *)(watch.code + CODE_LOCALS);
	const u64 last = first + 8 * *(const u32 *)(watch.code + CODE_STACK_SIZE);
	const u64 inside = places_between(places, first, last, 8);
	u64 found = 0;

	if (opcode != OPCODE_CALL)
		return inside;
	for (u32 i = 0; i < FRAMES_PLACES; i++) {
		const u64 callable = places[i] - 8 * (argument + 1);

		if (inside >> i & 1 && callable >= first + 8 &&
		    frames_word(callable) == watch.callee && frames_word(callable - 8) == 0)
			found |= 1ULL << i;
	}
	return found;
}

void trace_frames_watch(const u64 *places, u64 opcode)
{
	const u64 state = (u64)trace_frames.get_state();
	const u64 cframe = state != 0 ? frames_word(state + STATE_CFRAME) : 0;
	const u64 frame = cframe != 0 ? frames_word(cframe + CFRAME_FRAME) : 0;
	const u64 offset = cframe - (u64)(places + FRAMES_STACK);

	if (trace_frames.mode != FRAMES_WATCHING || frame == 0 ||
	    frames_word(frame + FRAME_CODE) != watch.code)
		return;
	/* And hooks are called as any function: with a stack that is aligned. */
	watch.is_cframe_fixed = watch.is_cframe_fixed && (u64)places % 16 == 0 &&
				(watch.events == 0 || watch.cframe == offset);
	watch.cframe = offset;
	watch.events++;
	watch.calls += opcode == OPCODE_CALL;
	watch.state &= places_of(places, state) & KEPT_REGISTERS;
	if (watch.next_place == FRAMES_NOWHERE) {
		watch.next &= places_of_next(places, opcode);
		return;
	}
	const u32 argument = ((const u8 *)places[watch.next_place])[1];

	watch.argument &= places_of_int(places, argument);
	watch.stack &= places_of_stack(places, frame, opcode, argument);
}

/* One, and a register if there is one; FRAMES_NOWHERE: none, or more than one. */
static u32 only_place(u64 places)
{
	if (places & ALL_REGISTERS)
		places &= ALL_REGISTERS;
	return places != 0 && (places & (places - 1)) == 0 ? (u32)__builtin_ctzll(places)
							   : FRAMES_NOWHERE;
}

/* Which of them does not matter where it is only read, and all have been right. */
static u32 any_place(u64 places)
{
	return places != 0 ? (u32)__builtin_ctzll(places) : FRAMES_NOWHERE;
}

static bool execute(const struct frames_entries *entries, void *code)
{
	long number = 0;

	watch.events = watch.calls = 0;
	return trace_frames_run(entries, code, &number) && number == RESULT &&
	       watch.events >= LEAST_EVENTS && watch.calls >= LEAST_CALLS;
}

static bool watch_twice(const struct frames_entries *entries, void *code)
{
	watch.code = (u64)code;
	watch.next = watch.stack = watch.argument = watch.state = ~0ULL;
	watch.is_cframe_fixed = true;
	watch.next_place = FRAMES_NOWHERE;
	if (!execute(entries, code))
		return false;
	watch.next_place = only_place(watch.next);
	return watch.next_place != FRAMES_NOWHERE && execute(entries, code);
}

bool trace_frames_find_places(const struct frames_entries *entries)
{
	void *code = entries->Py_CompileString(source, "", FILE_INPUT);
	void *builtins = entries->PyEval_GetBuiltins();

	watch.callee =
		builtins != NULL ? (u64)entries->PyDict_GetItemString(builtins, "max") : 0;
	const bool is_found = code != NULL && watch.callee != 0 && watch_twice(entries, code);

	watch.code = 0;
	if (code != NULL)
		entries->Py_DecRef(code);
	trace_frames.next = watch.next_place;
	trace_frames.stack = any_place(watch.stack);
	trace_frames.argument = any_place(watch.argument);
	trace_frames.state = any_place(watch.state);
	trace_frames.cframe = watch.cframe;
	return is_found && watch.is_cframe_fixed && trace_frames.stack != FRAMES_NOWHERE &&
	       trace_frames.argument != FRAMES_NOWHERE;
}
