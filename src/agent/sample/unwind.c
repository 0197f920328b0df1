/*
 * unwind - walks the stack of an interrupted thread, with a cache of unwind rules (rule_cache.c).
 */
#include "agent/sample/unwind.h"

#include "abi/ring.h"
#include "agent/core/arch.h"
#include "agent/core/images.h"
#include "agent/sample/java.h"
#include "agent/core/memory.h"
#include "agent/core/regions.h"
#include "agent/core/walk.h"
#include "agent/interpreters/place.h"
#include "agent/interpreters/python/builtins.h"
#include "agent/sample/interpreters.h"
#include "agent/sample/rule_cache.h"
#include "agent/signals/altstack.h"
#include "agent/signals/faults.h"
#include "walk/native.h"

/* Most steps of a walk, even where frames are only counted. */
#define MOST_STEPS 262144U
/* Most steps through signals or inwards (where a stack is left): more are a circle. */
#define MOST_SIGNALS 64U

void unwind_flush(void)
{
	builtins_flush();
	interpreter_places_flush();
	rule_cache_flush();
}

static enum walk_status rule_for(struct mem *mem, struct native_scratch *scratch, u64 address,
				 bool is_running, u64 *out_rule)
{
	struct native_image image;
	bool has_no_rule;

	*out_rule = rule_cache_get(address, &has_no_rule);
	if (*out_rule != 0)
		return WALK_COMPLETE;
	if (has_no_rule)
		return WALK_NO_RULE;
	if (!image_find(address, is_running, mem, &image))
		return WALK_NO_MODULE;
	enum walk_status status = native_rule_find_in(scratch, mem, &image, address, out_rule);

	/* Not kept if the table could not be read: there may be a rule all the same. */
	if (status == WALK_NO_RULE && !memory_is_used_up(mem) && !mem->was_forbidden)
		rule_cache_put_none(address);
	if (status == WALK_COMPLETE)
		rule_cache_put(address, *out_rule);
	return status;
}

/* The steps of a walk from frame to frame, outwards. */
struct steps {
	const ucontext_t *context;
	struct native_regs regs;
	struct native_step step; /* the last */
	u32 count, signals;
	bool is_guess;   /* the last step was a guess, and led to no image */
	bool is_by_code; /* the first was made by the instructions, since its rule was wrong */
};

/*
 * Fetches the register that a rule builds on.  The innermost frame's rule may build on any;
 * further out only those that calls preserve are known, and, in the frame that the innermost
 * returns to, those that the innermost happened to keep.  True: the rule builds on such a one.
 */
static bool steps_fetch_leaf_register(struct steps *steps, u64 rule)
{
	const u32 number = native_rule_leaf_register(rule);

	if (number == NATIVE_NO_REGISTER || steps->count > 1)
		return false;
	steps->regs.lr = arch_register_of(steps->context, number);
	return steps->count == 1;
}

/* Whether a step without a sure rule led behind a call.  Code made at run time has no image. */
static bool steps_believe(struct steps *steps, struct mem *mem)
{
	steps->is_guess = images_at((const void *)steps->regs.ip) == NULL;
	return native_follows_call(mem, steps->regs.ip);
}

/* One step by a rule, also by that of code that returns from an exception (eh_return). */
static enum walk_status steps_by_any_rule(struct steps *steps, struct mem *mem,
					  struct native_scratch *scratch, u64 rule)
{
	struct native_image image;

	if (native_rule_is_eh_return(rule) &&
	    image_find(steps->regs.ip, steps->count == 0, mem, &image))
		return native_step_eh_return(mem, &scratch->found, &image, rule, &steps->regs,
					     &steps->step);
	return native_step(mem, rule, &steps->regs, &steps->step);
}

/* One step by a rule; WALK_NO_RULE if it was guessed, and leads to no code. */
static enum walk_status steps_by_rule(struct steps *steps, struct mem *mem,
				      struct native_scratch *scratch, u64 rule)
{
	const bool is_lucky = steps_fetch_leaf_register(steps, rule);
	const bool is_guess = native_rule_is_guess(rule);
	const struct native_regs before = steps->regs;
	const enum walk_status status = steps_by_any_rule(steps, mem, scratch, rule);

	if (!is_guess && !is_lucky)
		return (steps->step.is_exact || steps->regs.sp < before.sp) &&
				       ++steps->signals > MOST_SIGNALS
			       ? WALK_NO_PROGRESS
			       : status;
	if (status == WALK_COMPLETE && !steps->step.is_last && steps_believe(steps, mem))
		return WALK_COMPLETE;
	steps->regs = before;
	steps->step = (struct native_step){ 0 };
	return is_guess ? WALK_NO_RULE : WALK_BAD_RULE;
}

/* One step where there is no rule, as `status` says: returns that unless the step led to a call. */
static enum walk_status steps_without_rule(struct steps *steps, struct mem *mem,
					   const struct walk *walk, bool is_exact,
					   enum walk_status status)
{
	enum walk_status by_code = WALK_NO_RULE;

	if (status == WALK_NO_MODULE && interpreters_go_on_alone(walk))
		return status;
	if (status == WALK_NO_MODULE)
		by_code =
			native_step_made_code(mem, is_exact, java_may_be_there(), &steps->regs);
	if (by_code == WALK_NO_RULE)
		by_code = native_step_frame_pointer(mem, &steps->regs);
	return by_code == WALK_COMPLETE && steps_believe(steps, mem) ? WALK_COMPLETE : status;
}

/* One step outwards: by a rule, or, without one, by instructions or the frame pointer. */
static enum walk_status walk_step(struct mem *mem, struct walk *walk, struct steps *steps)
{
	const bool is_exact = steps->step.is_exact;
	u64 rule;
	enum walk_status status =
		rule_for(mem, walk->rules, is_exact ? steps->regs.ip : steps->regs.ip - 1,
			 steps->count == 0, &rule);

	steps->step = (struct native_step){ 0 };
	steps->is_guess = false;
	if (status == WALK_COMPLETE) {
		status = steps_by_rule(steps, mem, walk->rules, rule);
		if (status != WALK_NO_RULE)
			return status;
	}
	if (status != WALK_NO_RULE && status != WALK_NO_MODULE)
		return status;
	return steps_without_rule(steps, mem, walk, is_exact, status);
}

/*
 * Whether the last step led to no frame: to an address in no image, from which no step leads on,
 * and which a guess led to or which is behind no call instruction.  Rules are wrong where a
 * coroutine's stack is made or left (by Crystal's swapcontext).
 */
static bool steps_led_astray(const struct steps *steps, struct mem *mem, bool is_exact,
			     bool was_guess, enum walk_status status)
{
	if (was_guess || status != WALK_NO_MODULE || is_exact)
		return was_guess;
	return !native_follows_call(mem, steps->regs.ip);
}

/*
 * Makes the first step once more, by the instructions, where its rule did not lead behind a call.
 * If they do not either, the rule may be right: qemu pushes an address and jumps.
 */
static bool steps_begin_by_code(struct steps *steps, struct mem *mem)
{
	const u64 rule = native_code_rule(mem, ARCH_PC_OF(steps->context));
	struct native_regs regs = ARCH_REGS_OF(steps->context);
	struct native_step step = { 0 };

	if (steps->is_by_code || !native_rule_is_guess(rule) ||
	    native_step(mem, rule, &regs, &step) != WALK_COMPLETE || step.is_last)
		return false;
	steps->is_by_code = true;
	steps->regs = regs;
	steps->step = step;
	return steps_believe(steps, mem);
}

/* What the outermost frame returns into, if that is one by its rule; 0: it is not looked at. */
static u64 walk_outermost(const struct steps *steps, const struct walk *walk)
{
	const u64 last = walk->count > 1 ? walk->frames[walk->count - 1] : RING_INTERPRETED;

	return steps->signals > 0 || walk->is_full || (last & RING_INTERPRETED) != 0 ? 0
										     : last + 1;
}

/*
 * Takes away the outermost frame if its address is a function's beginning: the program put it there
 * as the bottom of a stack that it made (abort(), in Perl's Coro).
 */
static bool walk_drop_bottom(const struct steps *steps, struct mem *mem, struct walk *walk)
{
	const u64 address = walk_outermost(steps, walk);
	u64 rule;

	if (address == 0 ||
	    rule_for(mem, walk->rules, address, false, &rule) != WALK_COMPLETE ||
	    !native_rule_is_entry(rule))
		return false;
	walk->count--;
	return true;
}

/* Of a stack that was made; what interpreters it has decide for themselves (interpreters.h). */
static enum walk_status walk_status_of_bottom(const struct walk *walk, enum walk_status status)
{
	return walk->python->layout == NULL && walk->ruby->layout == NULL ? WALK_SWITCHED
									  : status;
}

/*
 * The walk ends as status says; the last words are taken away if they are no frames.  One that no
 * call leads to is none, though a rule led there: it is what lies where a stack was that was
 * switched from, beyond a greenlet's first frame.
 */
static enum walk_status walk_end(const struct steps *steps, struct mem *mem, struct walk *walk,
				 bool is_astray, enum walk_status status)
{
	if (is_astray && !walk->is_full)
		walk->count--;
	if (mem->was_forbidden)
		return WALK_FORBIDDEN;
	if (memory_is_used_up(mem))
		return WALK_READ_LIMIT;
	const bool is_bottom = walk_drop_bottom(steps, mem, walk);
	const u64 address = is_bottom ? 0 : walk_outermost(steps, walk);

	walk->is_astray = is_astray || is_bottom;
	if (address != 0 && !native_follows_call(mem, address) && !mem->was_forbidden) {
		walk->count--;
		walk->is_astray = true;
	}
	return is_bottom ? walk_status_of_bottom(walk, status) : status;
}

/*
 * A signal handler's return address was not left by a call but put there by the kernel, as that
 * at the bottom of a made stack was by the program: it is a function's first instruction, and
 * the byte before it belongs to something else.
 */
static void walk_correct_trampoline(struct walk *walk, u64 address, bool was_exact)
{
	if (!was_exact && walk->count > 0 && walk->frames[walk->count - 1] == address)
		walk->frames[walk->count - 1]++;
}

/* Walks the native frames to the outermost; returns why that was the last. */
static enum walk_status walk_native(const ucontext_t *context, struct mem *mem,
				    struct walk *walk)
{
	struct steps steps = {
		.context = context,
		.regs = ARCH_REGS_OF(context),
		.step = { .is_exact = true },
	};
	u64 address = steps.regs.ip;

	for (; steps.count < MOST_STEPS; steps.count++) {
		const bool is_exact = steps.step.is_exact, was_guess = steps.is_guess;
		const u64 sp = steps.regs.sp;
		const enum walk_status status = walk_step(mem, walk, &steps);

		if (status != WALK_COMPLETE) {
			const bool is_astray =
				steps_led_astray(&steps, mem, is_exact, was_guess, status);

			if (!is_astray || was_guess || steps.count != 1 || walk->count != 1 ||
			    !steps_begin_by_code(&steps, mem))
				return walk_end(&steps, mem, walk, is_astray, status);
			address = steps.regs.ip - 1;
			walk->frames[0] = address;
			continue;
		}
		if (walk->regions.regions != NULL)
			regions_meet_native(walk, sp, steps.regs.sp, steps.count == 0);
		if (steps.step.is_signal)
			walk_correct_trampoline(walk, address, is_exact);
		if (steps.step.is_last)
			return !steps.step.is_signal && walk_drop_bottom(&steps, mem, walk)
				       ? walk_status_of_bottom(walk, WALK_COMPLETE)
				       : WALK_COMPLETE;
		if (interpreters_want(walk, address) &&
		    !interpreters_meet(walk, mem,
				       &(struct native_frame){ .address = address,
							       .sp = sp,
							       .cfa = steps.regs.sp,
							       .is_exact = is_exact }))
			return WALK_SWITCHED;
		address = steps.step.is_exact ? steps.regs.ip : steps.regs.ip - 1;
		/* No address of user space, and as a word it would be an interpreter's frame. */
		if (address & RING_INTERPRETED)
			return WALK_NO_MODULE;
		if (!walk_push(walk, address) && !interpreters_must_count(walk))
			return WALK_TOO_DEEP;
	}
	return WALK_TOO_DEEP;
}

void unwind_walk(const ucontext_t *context, struct walk *walk)
{
	const u64 here = (u64)__builtin_frame_address(0);
	struct mem mem;

	walk->leaf = ARCH_PC_OF(context);
	walk->sp = ARCH_SP_OF(context);
	walk->count = 0;
	walk->is_astray = false;
	memory_begin(&mem, walk->copies, walk->sp,
		     altstack_of_context_holds(context, here) ? 0 : here);
	if (faults_are_wanted()) {
		interpreters_find_stack(walk, &mem);
		memory_allow_loads(&mem, context);
	}
	interpreters_begin_walk(walk, &mem);
	regions_begin_walk(walk);
	walk->status = (u8)walk_native(context, &mem, walk);
	interpreters_end_walk(walk, &mem);
	if (walk->is_full)
		walk->status = WALK_TOO_DEEP;
	if (walk->regions.regions != NULL)
		regions_end_walk(walk);
}
