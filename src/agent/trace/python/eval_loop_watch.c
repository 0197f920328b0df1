/*
 * Finds where the eval loop keeps its next instruction, its stack pointer, the instruction's
 * argument, and the thread's state and frame.  The compiler chose a register or a word of the C
 * stack for each; but the choice is the same at every jump to the next instruction, since each of
 * these jumps may lead to any of 256 places.
 *
 * So known code is executed, and at many of its instructions each possible place is examined: the
 * one that was always right is the one.
 */
#include <stddef.h>

#include "abi/python_layout.h"
#include "agent/trace/python/api.h"
#include "agent/trace/python/dispatch_internal.h"
#include "agent/trace/python/eval_loop.h"
#include "agent/trace/word.h"

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
/* Expected at least, in each run of the code. */
#define LEAST_EVENTS 60U
#define LEAST_CALLS  10U

/* The callee-saved registers, rbx, rbp, r12 to r15, as a dispatch hook pushes them. */
#define KEPT_REGISTERS (1ULL << 0 | 1ULL << 1 | 1ULL << 2 | 1ULL << 3 | 1ULL << 10 | 1ULL << 11)
#define ALL_REGISTERS  ((1ULL << LOOP_REGISTERS) - 1)

_Static_assert(LOOP_PLACES == 64, "a bit for each place");

#define CODE_UNITS 16 /* offset of ob_size: number of code units */

static struct {
	const struct loop_shape *shape;
	const struct python_offsets *offsets;
	u64 code, callee; /* the code that runs, and what it calls; code 0: not watching */
	/* A bit for each place that was always right so far. */
	u64 next, stack, argument, state, frame;
	u32 events, calls;
	bool is_aligned; /* the stack was aligned at every hook, as calls need it */
	u32 next_place;  /* found by the first run; LOOP_NOWHERE before */
} watch;

/* Places whose word is in [first, last], and a multiple of `step`. */
static u64 places_between(const u64 *places, u64 first, u64 last, u64 step)
{
	u64 found = 0;

	for (u32 i = 0; i < LOOP_PLACES; i++) {
		if (i != LOOP_TARGET && places[i] >= first && places[i] <= last &&
		    places[i] % step == 0)
			found |= 1ULL << i;
	}
	return found;
}

static u64 places_of(const u64 *places, u64 word)
{
	return places_between(places, word, word, 1);
}

/* An int takes half a word; the other half is undefined. */
static u64 places_of_int(const u64 *places, u32 number)
{
	u64 found = 0;

	for (u32 i = 0; i < LOOP_PLACES; i++)
		found |= i != LOOP_TARGET && (u32)places[i] == number ? 1ULL << i : 0;
	return found;
}

static u64 places_of_next(const u64 *places, u64 opcode)
{
	const u64 first = watch.code + watch.offsets->code_instructions;
	const u64 count = trace_word_at(watch.code + CODE_UNITS);
	const u64 inside = places_between(places, first, first + 2 * (count - 1), 2);
	u64 found = 0;

	for (u32 i = 0; i < LOOP_PLACES; i++) {
		if (inside >> i & 1 && *(const u8 *)places[i] == opcode)
			found |= 1ULL << i;
	}
	return found;
}

/* Whether the two words from `below` are the callee and a NULL, in this version's order. */
static bool is_callee(u64 below)
{
	const u64 callable = trace_word_at(below + 8 * (2 - watch.shape->callee_depth));
	const u64 beside = trace_word_at(below + 8 * (watch.shape->callee_depth - 1));
	const u64 tags = watch.shape->tags;

	return (callable & ~tags) == watch.callee && (beside & ~tags) == 0;
}

/* Places that point into the value stack; at a call, right above callee and arguments. */
static u64 places_of_stack(const u64 *places, u64 frame, u64 opcode, u32 argument)
{
	const u64 first =
		frame + watch.offsets->frame_locals +
		8 * (u64) * (const u32 *)(watch.code + watch.offsets->code_local_count);
	const u64 last =
		first + 8 * (u64) * (const u32 *)(watch.code + watch.offsets->code_stack_size);
	const u64 inside = places_between(places, first, last, 8);
	u64 found = 0;

	if (opcode != watch.shape->call)
		return inside;
	for (u32 i = 0; i < LOOP_PLACES; i++) {
		const u64 below = places[i] - 8 * (u64)(argument + 2);

		if (inside >> i & 1 && below >= first && is_callee(below))
			found |= 1ULL << i;
	}
	return found;
}

void trace_eval_loop_watch(const u64 *places, u64 opcode)
{
	if (watch.code == 0)
		return;
	const u64 state = (u64)python_api.get_state();
	const u64 frame = dispatch_frame_of_state(state);

	if (dispatch_code_of(frame) != watch.code)
		return;
	watch.is_aligned = watch.is_aligned && (u64)places % 16 == 0;
	watch.events++;
	watch.calls += opcode == watch.shape->call;
	watch.state &= places_of(places, state);
	watch.frame &= places_of(places, frame);
	if (watch.next_place == LOOP_NOWHERE) {
		watch.next &= places_of_next(places, opcode);
		return;
	}
	const u32 argument = ((const u8 *)places[watch.next_place])[1];

	watch.argument &= places_of_int(places, argument);
	watch.stack &= places_of_stack(places, frame, opcode, argument);
}

/* The only place, or the only register among several; LOOP_NOWHERE: none, or ambiguous. */
static u32 only_place(u64 places)
{
	if (places & ALL_REGISTERS)
		places &= ALL_REGISTERS;
	return places != 0 && (places & (places - 1)) == 0 ? (u32)__builtin_ctzll(places)
							   : LOOP_NOWHERE;
}

/* Any of several: they are only read, and all were always right. */
static u32 any_place(u64 places)
{
	return places != 0 ? (u32)__builtin_ctzll(places) : LOOP_NOWHERE;
}

static bool execute(void *code)
{
	long number = 0;

	watch.events = watch.calls = 0;
	return trace_api_run_for_number(code, &number) && number == RESULT &&
	       watch.events >= LEAST_EVENTS && watch.calls >= LEAST_CALLS;
}

static bool watch_twice(void *code)
{
	watch.next = watch.stack = watch.argument = watch.state = watch.frame = ~0ULL;
	watch.is_aligned = true;
	watch.next_place = LOOP_NOWHERE;
	watch.code = (u64)code;
	if (!execute(code))
		return false;
	watch.next_place = only_place(watch.next);
	return watch.next_place != LOOP_NOWHERE && execute(code);
}

bool trace_eval_loop_find_places(const struct loop_shape *shape, struct loop_places *out_places)
{
	void *code = trace_api_compile(source);
	void *builtins = python_api.PyEval_GetBuiltins();

	watch.shape = shape;
	watch.offsets = &shape->layout->offsets;
	watch.callee =
		builtins != NULL ? (u64)python_api.PyDict_GetItemString(builtins, "max") : 0;
	const bool is_found = code != NULL && watch.callee != 0 && watch_twice(code);

	watch.code = 0;
	trace_api_drop(code);
	*out_places = (struct loop_places){
		.next = watch.next_place,
		.stack = any_place(watch.stack),
		.argument = any_place(watch.argument),
		/* Only callee-saved registers: others may be right by chance, in one frame. */
		.state = any_place(watch.state & KEPT_REGISTERS),
		.frame = any_place(watch.frame & KEPT_REGISTERS),
	};
	return is_found && watch.is_aligned && out_places->stack != LOOP_NOWHERE &&
	       out_places->argument != LOOP_NOWHERE;
}
