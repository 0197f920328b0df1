#include "remote/walk.h"

#include "abi/walk_status.h"
#include "base/recent.h"
#include "remote/frame_pointer.h"
#include "remote/stack.h"
#include "remote/unwind_files.h"
#include "remote/walk_internal.h"
#include "walk/native.h"

#define MOST_STEPS   STACK_FRAMES_MAX
#define MOST_SIGNALS 64U

/* State of the native walk, which goes outwards. */
struct steps {
	struct walk *walk;
	const struct walk_registers *registers;
	struct native_scratch scratch;
	struct native_regs regs;
	struct native_step step; /* the last */
	uint32_t count, signals;
	bool is_unfounded; /* the last step was a guess, and led outside of all images */
	bool is_guess;     /* further frames are guesses */
};

/* Marks an address that has no unwind rule: no rule has this value. */
#define NO_RULE UINT64_MAX
/* Marks a function that switches stacks: the copy lacks the other one. */
#define OTHER_STACK (UINT64_MAX - 1)

/*
 * The cached rule: by file and offset where processes share rules, else by address. The same
 * offset of a file has the same rule wherever the file is mapped.
 */
static uint64_t *known_rule(struct remote *remote, const struct remote_image *image,
			    uint64_t address)
{
	if (remote->shared_rules && image->file_id != 0)
		return recent_at(remote->shared_rules, image->file_id, address - image->bias,
				 NULL);
	return recent_at(&remote->rules, 0, address, NULL);
}

/* The rule for a Go function, from Go's own table. */
static bool go_rule(const struct remote_image *image, uint64_t address, u64 *out_rule)
{
	const struct unwind_file *file = image->file;
	struct go_frame frame;
	u64 rule;

	if (!file || !go_table_find(&file->elf, &file->go, address - image->bias, &frame))
		return false;
	rule = frame.is_last       ? native_last_rule()
	       : frame.moves_stack ? OTHER_STACK
				   : native_depth_rule(frame.depth);
	if (rule != 0)
		*out_rule = rule;
	return rule != 0;
}

/* Finds a rule and caches the result, if it is permanent. */
static enum walk_status find_rule(struct steps *steps, const struct remote_image *image,
				  uint64_t address, uint64_t *known)
{
	u64 rule = 0;
	enum walk_status status = WALK_COMPLETE;

	/*
	 * Go's table marks where a stack ends, which the DWARF rules of the same code do not.
	 */
	if (!go_rule(image, address, &rule))
		status = native_rule_find_in(&steps->scratch, steps->walk->mem, &image->native,
					     address, &rule);
	if (status == WALK_COMPLETE)
		*known = rule;
	else if (status == WALK_NO_RULE)
		*known = NO_RULE;
	return status;
}

static enum walk_status rule_for(struct steps *steps, uint64_t address, uint64_t *out_rule)
{
	struct remote *remote = steps->walk->remote;
	const struct remote_image *image = remote_images_find(&remote->images, address);
	enum walk_status status;
	uint64_t *known;

	if (!image)
		return WALK_NO_MODULE;
	known = known_rule(remote, image, address);
	if (*known == 0) {
		status = find_rule(steps, image, address, known);
		if (*known == 0)
			return status;
	}
	*out_rule = *known;
	return *known == NO_RULE       ? WALK_NO_RULE
	       : *known == OTHER_STACK ? WALK_SWITCHED
				       : WALK_COMPLETE;
}

static bool leads_to_image(const struct steps *steps)
{
	return remote_images_find(&steps->walk->remote->images, steps->regs.ip) != NULL;
}

/* Finds the frame pointer of the current frame; false: it cannot be found. */
static bool find_frame_pointer(struct steps *steps, uint64_t lookup)
{
	const struct remote_image *image =
		remote_images_find(&steps->walk->remote->images, lookup);
	enum frame_pointer_means means;
	uint64_t fp = 0;

	if (!image || eh_lookup_find(&steps->scratch.found, steps->walk->mem, &image->native,
				     lookup) != WALK_COMPLETE)
		return false;
	means = frame_pointer_find(steps->walk->mem, steps->scratch.found.fde.begin,
				   steps->regs.ip, steps->regs.sp, &fp);
	steps->regs.fp = fp;
	steps->is_guess |= means == FRAME_POINTER_BY_SCAN;
	return means != FRAME_POINTER_UNKNOWN;
}

static void fetch_leaf_register(struct steps *steps, uint64_t rule)
{
	const uint32_t number = native_rule_leaf_register(rule);

	if (number < WALK_REGISTERS && steps->count == 0 &&
	    (steps->registers->has_all || steps->registers->known >> number & 1))
		steps->regs.lr = steps->registers->all[number];
}

static enum walk_status step_by_rule(struct steps *steps, uint64_t rule, uint64_t lookup)
{
	struct mem *mem = steps->walk->mem;
	const struct native_regs before = steps->regs;
	const struct remote_image *image;
	enum walk_status status;

	if (frame_pointer_is_needed(rule) && steps->regs.fp == FRAME_POINTER_UNKNOWN_VALUE &&
	    !find_frame_pointer(steps, lookup)) {
		steps->regs = before;
		steps->walk->stack->needs_frame_pointer = true;
		return WALK_BAD_RULE;
	}
	fetch_leaf_register(steps, rule);
	image = remote_images_find(&steps->walk->remote->images, steps->regs.ip);
	status = native_rule_is_eh_return(rule) && image
			 ? native_step_eh_return(mem, &steps->scratch.found, &image->native,
						 rule, &steps->regs, &steps->step)
			 : native_step(mem, rule, &steps->regs, &steps->step);
	if (!native_rule_is_guess(rule))
		return (steps->step.is_exact || steps->regs.sp < before.sp) &&
				       ++steps->signals > MOST_SIGNALS
			       ? WALK_NO_PROGRESS
			       : status;
	if (status == WALK_COMPLETE && !steps->step.is_last &&
	    native_follows_call(mem, steps->regs.ip)) {
		steps->is_unfounded = !leads_to_image(steps);
		return WALK_COMPLETE;
	}
	steps->regs = before;
	steps->step = (struct native_step){ 0 };
	return WALK_NO_RULE;
}

static enum walk_status step_without_rule(struct steps *steps, bool is_exact,
					  enum walk_status status)
{
	struct mem *mem = steps->walk->mem;
	enum walk_status by_code = WALK_NO_RULE;

	if (steps->regs.fp == FRAME_POINTER_UNKNOWN_VALUE ||
	    (status == WALK_NO_MODULE && steps->walk->remote->ruby))
		return status;
	if (status == WALK_NO_MODULE)
		by_code = native_step_made_code(mem, is_exact, 0, &steps->regs);
	if (by_code == WALK_NO_RULE)
		by_code = native_step_frame_pointer(mem, &steps->regs);
	if (by_code != WALK_COMPLETE || !native_follows_call(mem, steps->regs.ip))
		return status;
	steps->is_unfounded = !leads_to_image(steps);
	return WALK_COMPLETE;
}

static enum walk_status step_outwards(struct steps *steps)
{
	const bool is_exact = steps->step.is_exact;
	const uint64_t lookup = is_exact ? steps->regs.ip : steps->regs.ip - 1;
	uint64_t rule = 0;
	enum walk_status status = rule_for(steps, lookup, &rule);

	steps->step = (struct native_step){ 0 };
	steps->is_unfounded = false;
	if (status == WALK_COMPLETE) {
		status = step_by_rule(steps, rule, lookup);
		if (status != WALK_NO_RULE)
			return status;
	}
	if (status != WALK_NO_RULE && status != WALK_NO_MODULE)
		return status;
	status = step_without_rule(steps, is_exact, status);
	if (status == WALK_NO_RULE && !is_exact &&
	    native_passes_result_on(steps->walk->mem, steps->regs.ip)) {
		steps->step.is_last = 1;
		return WALK_COMPLETE;
	}
	return status;
}

/* Stores the current frame; false if there is no space. */
static bool push_native(struct steps *steps)
{
	const bool is_leaf = steps->count == 0;
	const uint64_t ip = steps->regs.ip;
	const bool is_behind = is_leaf ? steps->registers->is_in_call : !steps->step.is_exact;

	return stack_push(steps->walk->stack,
			  &(struct stack_frame){ .kind = STACK_NATIVE,
						 .address = is_behind ? ip - 1 : ip,
						 .sp = steps->regs.sp,
						 .is_guess = steps->is_guess });
}

/*
 * Passes the last stored frame to the interpreters' walks: it reaches from sp to the current
 * stack pointer.  False: that frame was another stack's.
 */
static bool meet(struct steps *steps, uint64_t sp, bool was_exact)
{
	struct walk *walk = steps->walk;
	struct stack_frame *frame = &walk->stack->frames[walk->stack->count - 1];
	const uint64_t address = frame->address;

	/*
	 * A signal trampoline was not called: its address is exact, at its first instruction.
	 */
	if (steps->step.is_signal && !was_exact)
		frame->address++;
	if (walk->has_python &&
	    code_ranges_have(remote_python_layout(walk->remote->python)->loop, address) &&
	    !walk_python_meet(walk, sp, steps->regs.sp, was_exact))
		return false;
	if (walk->remote->ruby && walk->states->ruby != 0)
		walk_ruby_meet(walk, address);
	return true;
}

/*
 * Whether the last frame, from which no step leads on, is false: a guess led there, or no call
 * returns to its address, as beyond a greenlet's first frame, where other greenlets' memory is.
 */
static bool is_astray(const struct steps *steps, bool was_exact, bool was_unfounded,
		      enum walk_status status)
{
	return (status == WALK_NO_MODULE || status == WALK_NO_RULE) && !was_exact &&
	       (was_unfounded || !native_follows_call(steps->walk->mem, steps->regs.ip));
}

static enum walk_status walk_native(struct steps *steps)
{
	struct remote_stack *stack = steps->walk->stack;

	while (steps->count < MOST_STEPS && push_native(steps)) {
		const bool was_exact = steps->step.is_exact;
		const bool was_unfounded = steps->is_unfounded;
		const uint64_t sp = steps->regs.sp;
		const enum walk_status status = step_outwards(steps);

		if (status != WALK_COMPLETE) {
			steps->walk->is_astray =
				is_astray(steps, was_exact, was_unfounded, status);
			if (steps->walk->is_astray)
				stack->count--;
			return status;
		}
		if (steps->step.is_last)
			return WALK_COMPLETE;
		if (!meet(steps, sp, was_exact))
			return WALK_SWITCHED;
		steps->count++;
	}
	return WALK_TOO_DEEP;
}

/*
 * Bounds the time: a program may have made up as many frames as there is space for, each of
 * them slow to read.
 */
static void limit_time(const struct remote *remote, struct remote_stack *stack)
{
	const uint64_t until_ns = stack_clock_ns() + WALK_STACK_MOST_NS;

	stack->until_ns = remote->walks_until_ns != 0 && remote->walks_until_ns < until_ns
				  ? remote->walks_until_ns
				  : until_ns;
}

void walk_stack(struct remote *remote, const struct walk_registers *registers,
		const struct walk_states *states, struct remote_stack *stack)
{
	struct walk walk = { .remote = remote,
			     .mem = &remote->mem,
			     .stack = stack,
			     .states = states,
			     .is_resting = registers->pc != 0 &&
					   (!registers->has_all || registers->is_in_call) };
	struct steps steps = {
		.walk = &walk,
		.registers = registers,
		.regs = { .ip = registers->pc,
			  .sp = registers->sp,
			  .fp = registers->has_all ? registers->fp
						   : FRAME_POINTER_UNKNOWN_VALUE,
			  .bx = registers->has_all ? registers->bx
						   : FRAME_POINTER_UNKNOWN_VALUE },
		.step = { .is_exact = true },
	};

#if defined(__aarch64__)
	/* x30 is unknown too, and 0 would mark the outermost frame. */
	steps.regs.lr = registers->has_all ? registers->lr : FRAME_POINTER_UNKNOWN_VALUE;
#endif
	stack_clear(stack);
	limit_time(remote, stack);
	walk_python_begin(&walk);
	stack->ending = registers->pc != 0 ? (uint8_t)walk_native(&steps) : WALK_NO_MODULE;
	walk_python_end(&walk);
	walk_ruby_end(&walk);
	walk_builtins(&walk);
	stack->activations = walk.activations;
	if (stack->is_full)
		stack->ending = WALK_TOO_DEEP;
}
