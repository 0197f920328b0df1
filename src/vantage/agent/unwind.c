/*
 * unwind - the walk of one stack, behind a cache of rules.
 *
 * A rule for an address is found once, by reading .eh_frame (about a microsecond), and kept
 * in a direct-mapped table of single words, `address << 16 | number of the rule`: one
 * atomic load, which cannot tear between threads.  Rules themselves are words as well, few
 * (hundreds for a large program), in a table that only grows.  That an image has no rule for an
 * address is kept, too: some have none for most of their code (Chromium).
 */
#include "vantage/agent/agent.h"

#include "vantage/agent/altstack.h"
#include "vantage/agent/arch.h"
#include "vantage/agent/builtins.h"
#include "vantage/agent/images.h"
#include "vantage/agent/interpreters.h"

#define CACHE_BITS  16
#define CACHE_SLOTS (1U << CACHE_BITS)
#define RULE_SLOTS  16384U
#define RULE_PROBES 16U
/* A walk steps no further, even to count. */
#define MOST_STEPS 262144U
/* Stands where the number of a rule would. */
#define NO_RULE_NUMBER 0xffffU

static struct {
	u64 words[CACHE_SLOTS];
	u64 rules[RULE_SLOTS]; /* 0: free */
} cache;

static u32 cache_slot(u64 address)
{
	return (u32)((address * 0x9e3779b97f4a7c15ULL) >> (64 - CACHE_BITS));
}

/* 0 where nothing is kept of address, or that there is no rule. */
static u64 cache_get(u64 address, bool *out_has_no_rule)
{
	u64 word = __atomic_load_n(&cache.words[cache_slot(address)], __ATOMIC_RELAXED);

	*out_has_no_rule = word == (address << 16 | NO_RULE_NUMBER);
	if (word >> 16 != (address & 0xffffffffffffULL) || *out_has_no_rule)
		return 0;
	return __atomic_load_n(&cache.rules[word & (RULE_SLOTS - 1)], __ATOMIC_RELAXED);
}

/* The number of a rule, made if it is new; false when there is no place for it. */
static bool cache_number_rule(u64 rule, u32 *out_number)
{
	u32 start = (u32)((rule * 0x9e3779b97f4a7c15ULL) >> 50);

	for (u32 i = 0; i < RULE_PROBES; i++) {
		u32 number = (start + i) & (RULE_SLOTS - 1);
		u64 there = 0;

		if (__atomic_compare_exchange_n(&cache.rules[number], &there, rule, 0,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
		    there == rule) {
			*out_number = number;
			return true;
		}
	}
	return false;
}

static void cache_put(u64 address, u32 number)
{
	if (address >> 48 == 0)
		__atomic_store_n(&cache.words[cache_slot(address)], address << 16 | number,
				 __ATOMIC_RELAXED);
}

void unwind_flush(void)
{
	builtins_flush();
	interpreters_flush();
	for (u32 i = 0; i < CACHE_SLOTS; i++)
		__atomic_store_n(&cache.words[i], 0, __ATOMIC_RELAXED);
}

static enum walk_status rule_for(struct mem *mem, struct native_scratch *scratch, u64 address,
				 bool is_running, u64 *out_rule)
{
	struct native_image image;
	bool has_no_rule;
	u32 number;

	*out_rule = cache_get(address, &has_no_rule);
	if (*out_rule != 0)
		return WALK_COMPLETE;
	if (has_no_rule)
		return WALK_NO_RULE;
	if (!image_find(address, is_running, mem, &image))
		return WALK_NO_MODULE;
	enum walk_status status = native_rule_find_in(scratch, mem, &image, address, out_rule);

	if (status == WALK_NO_RULE)
		cache_put(address, NO_RULE_NUMBER);
	if (status == WALK_COMPLETE && cache_number_rule(*out_rule, &number))
		cache_put(address, number);
	return status;
}

/*
 * The innermost frame's rule may build on any register; further out only those are known that
 * calls preserve.
 */
static void walk_fetch_leaf_register(const ucontext_t *context, u64 rule,
				     struct native_regs *regs)
{
	const u32 number = native_rule_leaf_register(rule);

	if (number != NATIVE_NO_REGISTER)
		regs->lr = arch_register_of(context, number);
}

/* One step outwards by whatever means there are.  context: NULL but for the innermost frame. */
static enum walk_status walk_step(struct mem *mem, struct walk *walk, const ucontext_t *context,
				  bool is_exact, struct native_regs *regs,
				  struct native_step *out_step)
{
	u64 rule;
	enum walk_status status = rule_for(mem, walk->rules, is_exact ? regs->ip : regs->ip - 1,
					   context != NULL, &rule);

	*out_step = (struct native_step){ 0 };
	if (status == WALK_COMPLETE) {
		if (context != NULL)
			walk_fetch_leaf_register(context, rule, regs);
		return native_step(mem, rule, regs, out_step);
	}
	if (status != WALK_NO_RULE && status != WALK_NO_MODULE)
		return status;
	if (status == WALK_NO_MODULE && interpreters_go_on_alone(walk))
		return status;
	if (status == WALK_NO_MODULE &&
	    native_step_made_code(mem, is_exact, regs) == WALK_COMPLETE)
		return WALK_COMPLETE;
	/* Code without rules: the tally keeps the reason unless the step holds. */
	if (native_step_frame_pointer(mem, regs) != WALK_COMPLETE)
		return status;
	return WALK_COMPLETE;
}

bool unwind_push(struct walk *walk, u64 frame)
{
	if (walk->count == AGENT_MAX_FRAMES) {
		walk->is_full = true;
		return false;
	}
	walk->frames[walk->count++] = frame;
	return true;
}

/* The native frames to the outermost, and why that was the last. */
static enum walk_status walk_native(const ucontext_t *context, struct mem *mem,
				    struct walk *walk)
{
	struct native_regs regs = ARCH_REGS_OF(context);
	struct native_step step = { .is_exact = true };
	u64 address = regs.ip;

	for (u32 i = 0; i < MOST_STEPS; i++) {
		const bool is_exact = step.is_exact;
		const u64 sp = regs.sp;
		const enum walk_status status =
			walk_step(mem, walk, i == 0 ? context : NULL, is_exact, &regs, &step);

		if (status != WALK_COMPLETE)
			return mem->was_forbidden ? WALK_FORBIDDEN : status;
		if (walk->regions.regions != NULL)
			regions_meet_native(walk, sp, regs.sp, i == 0);
		if (step.is_last)
			return WALK_COMPLETE;
		if (interpreters_want(walk, address) &&
		    !interpreters_meet(walk, mem,
				       &(struct native_frame){ .address = address,
							       .sp = sp,
							       .cfa = regs.sp,
							       .is_exact = is_exact }))
			return WALK_SWITCHED;
		address = step.is_exact ? regs.ip : regs.ip - 1;
		/* No address of a program's: and as a word it would be another thing. */
		if (address & RING_INTERPRETED)
			return WALK_NO_MODULE;
		if (!unwind_push(walk, address) && !interpreters_must_count(walk))
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
	memory_begin(&mem, walk->copies, walk->sp,
		     altstack_of_context_holds(context, here) ? 0 : here);
	if (faults_are_wanted()) {
		interpreters_find_stack(walk, &mem);
		memory_allow_loads(&mem, context);
	}
	interpreters_begin_walk(walk, &mem);
	regions_begin_walk(walk);
	walk->ending = (u8)walk_native(context, &mem, walk);
	interpreters_end_walk(walk, &mem);
	if (walk->is_full)
		walk->ending = WALK_TOO_DEEP;
	if (walk->regions.regions != NULL)
		regions_end_walk(walk);
}
