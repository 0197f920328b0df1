/*
 * walk_speed - what a step of the native walker costs, and what finding a rule does.
 *
 * Built by `ninja tests/unit/walk/walk_speed`.  It walks its own stack, and finds rules in the
 * libraries it has.  Printed is the best of several rounds: this is what the code costs, not
 * what the machine does beside it.
 */
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

/* The own stack and images, with the checks an agent makes. */
struct mem {
	uint64_t stack_low, stack_high;
	uint64_t image_low, image_high;
};

#include "walk/native.h"

static inline int mem_read(struct mem *mem, void *dst, u32 len, u64 addr)
{
	int is_stack = addr >= mem->stack_low && addr < mem->stack_high &&
		       len <= mem->stack_high - addr;
	int is_image = addr >= mem->image_low && addr < mem->image_high &&
		       len <= mem->image_high - addr;

	if (!is_stack && !is_image)
		return -1;
	memcpy(dst, (const void *)(uintptr_t)addr, len);
	return 0;
}

#define IMAGES_MAX  64
#define CACHE_SLOTS 65536
#define RULES_MAX   8192
#define ROUNDS      7
#define DEPTH       120

static struct {
	struct native_image images[IMAGES_MAX];
	const char *names[IMAGES_MAX];
	uint32_t image_count;
	struct {
		uint64_t lookup, rule;
	} cache[CACHE_SLOTS];
	uint64_t rules[RULES_MAX];
	uint32_t rule_count;
} all;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int learn_image(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct native_image *image = &all.images[all.image_count];

	(void)size;
	(void)unused;
	if (all.image_count == IMAGES_MAX)
		return 1;
	image->start = UINT64_MAX;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t at = info->dlpi_addr + p->p_vaddr;
		if (p->p_type == PT_LOAD && at < image->start)
			image->start = at;
		if (p->p_type == PT_LOAD && at + p->p_memsz > image->end)
			image->end = at + p->p_memsz;
		if (p->p_type == PT_GNU_EH_FRAME) {
			image->eh_frame_hdr = at;
			image->eh_frame_hdr_len = p->p_memsz;
		}
	}
	all.names[all.image_count++] = info->dlpi_name[0] ? info->dlpi_name : "this program";
	return 0;
}

/* ---- finding rules ---- */

static void count_rule(uint64_t rule)
{
	for (uint32_t i = 0; i < all.rule_count; i++)
		if (all.rules[i] == rule)
			return;
	if (all.rule_count < RULES_MAX)
		all.rules[all.rule_count++] = rule;
}

/* Every function of the table is looked up at its begin and 24 bytes further on. */
static void find_rules(const struct native_image *image, const char *name)
{
	struct mem mem = { .image_low = image->start, .image_high = image->end };
	const unsigned char *hdr = (const unsigned char *)(uintptr_t)image->eh_frame_hdr;
	uint64_t best = UINT64_MAX;
	uint64_t found = 0;
	uint32_t count;

	memcpy(&count, hdr + 8, sizeof count);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin = now_ns();
		found = 0;
		for (uint32_t i = 0; i < count; i++) {
			int32_t offset;
			uint64_t rule;
			memcpy(&offset, hdr + 12 + 8 * (size_t)i, sizeof offset);
			uint64_t lookup = image->eh_frame_hdr + (uint64_t)(int64_t)offset;
			found += native_rule_find(&mem, image, lookup, &rule) == WALK_COMPLETE;
			found += native_rule_find(&mem, image, lookup + 24, &rule) ==
				 WALK_COMPLETE;
		}
		uint64_t taken = now_ns() - begin;
		best = taken < best ? taken : best;
	}
	printf("find a rule: %4" PRIu64 " ns  (%u functions of %s)\n",
	       best / (2 * (uint64_t)count + (count == 0)), count, name);
	(void)found;
}

static void count_rules(const struct native_image *image, const char *name)
{
	struct mem mem = { .image_low = image->start, .image_high = image->end };
	uint64_t rule;
	uint64_t looked_up = 0;

	all.rule_count = 0;
	for (uint64_t at = image->start; at < image->end; at += 3) {
		if (native_rule_find(&mem, image, at, &rule) != WALK_COMPLETE)
			continue;
		looked_up++;
		count_rule(rule);
	}
	printf("distinct rules: %u  (%s, at %" PRIu64 " addresses)\n", all.rule_count, name,
	       looked_up);
}

/* ---- taking steps ---- */

static const struct native_image *image_of(uint64_t addr)
{
	for (uint32_t i = 0; i < all.image_count; i++)
		if (addr >= all.images[i].start && addr < all.images[i].end)
			return &all.images[i];
	return NULL;
}

static uint64_t rule_for(uint64_t lookup)
{
	uint32_t slot = (lookup ^ lookup >> 16) & (CACHE_SLOTS - 1);

	if (all.cache[slot].lookup != lookup) {
		const struct native_image *image = image_of(lookup);
		struct mem mem = { 0 };
		uint64_t rule = 0;
		if (image == NULL)
			return 0;
		mem.image_low = image->start;
		mem.image_high = image->end;
		native_rule_find(&mem, image, lookup, &rule);
		all.cache[slot].lookup = lookup;
		all.cache[slot].rule = rule;
	}
	return all.cache[slot].rule;
}

static uint32_t walk(struct mem *mem, struct native_regs regs)
{
	struct native_step step = { .is_exact = 1 };
	uint32_t frames = 0;

	for (; frames < 1024; frames++) {
		uint64_t rule = rule_for(regs.ip - !step.is_exact);
		if (rule == 0 || native_step(mem, rule, &regs, &step) != WALK_COMPLETE)
			return 0;
		if (step.is_last)
			return frames + 1;
	}
	return 0;
}

/* Walks, again and again, from a function that is still running. */
static __attribute__((noinline)) int measure_from(const greg_t *gregs)
{
	struct native_regs regs = { .ip = (uint64_t)gregs[REG_RIP],
				    .sp = (uint64_t)gregs[REG_RSP],
				    .fp = (uint64_t)gregs[REG_RBP],
				    .bx = (uint64_t)gregs[REG_RBX] };
	struct mem mem = { .stack_low = regs.sp, .stack_high = regs.sp + (1 << 20) };
	uint64_t best = UINT64_MAX;
	uint32_t frames = 0;

	for (int round = 0; round < ROUNDS * 10; round++) {
		uint64_t begin = now_ns();
		for (int i = 0; i < 100; i++)
			frames = walk(&mem, regs);
		uint64_t taken = (now_ns() - begin) / 100;
		best = taken < best ? taken : best;
	}
	if (frames == 0)
		return 0;
	printf("a walk: %" PRIu64 " ns, %u frames, %.1f ns a step, its rule from a cache\n",
	       best, frames, (double)best / frames);
	return 1;
}

static __attribute__((noinline)) int measure_steps(void)
{
	ucontext_t here;

	getcontext(&here);
	return measure_from(here.uc_mcontext.gregs);
}

static __attribute__((noinline)) int descend(int depth)
{
	volatile char space[64];
	int ok;

	space[0] = (char)depth;
	ok = depth == 0 ? measure_steps() : descend(depth - 1);
	return ok + (space[0] != (char)depth);
}

int main(void)
{
	dl_iterate_phdr(learn_image, NULL);
	for (uint32_t i = 0; i < all.image_count; i++) {
		if (all.images[i].eh_frame_hdr == 0 || strstr(all.names[i], "vdso") != NULL)
			continue;
		find_rules(&all.images[i], all.names[i]);
		count_rules(&all.images[i], all.names[i]);
	}
	return descend(DEPTH) ? EXIT_SUCCESS : EXIT_FAILURE;
}
