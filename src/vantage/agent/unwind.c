/*
 * unwind - the walk of one stack, behind a cache of rules.
 *
 * A rule for an address is found once, by reading .eh_frame (about a microsecond), and kept
 * in a direct-mapped table of single words, `address << 16 | number of the rule`: one
 * atomic load, which cannot tear between threads.  Rules themselves are words as well, few
 * (hundreds for a large program), in a table that only grows.
 */
#include "vantage/agent/agent.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#define CACHE_BITS          16
#define CACHE_SLOTS         (1U << CACHE_BITS)
#define RULE_SLOTS          16384U
#define RULE_PROBES         16U
#define MAX_PROGRAM_HEADERS 64

static struct {
	u64 words[CACHE_SLOTS];
	u64 rules[RULE_SLOTS]; /* 0: free */
} cache;

static u32 cache_slot(u64 address)
{
	return (u32)((address * 0x9e3779b97f4a7c15ULL) >> (64 - CACHE_BITS));
}

static u64 cache_get(u64 address)
{
	u64 word = __atomic_load_n(&cache.words[cache_slot(address)], __ATOMIC_RELAXED);

	if (word >> 16 != (address & 0xffffffffffffULL))
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

static void cache_put(u64 address, u64 rule)
{
	u32 number;

	if (address >> 48 == 0 && cache_number_rule(rule, &number))
		__atomic_store_n(&cache.words[cache_slot(address)], address << 16 | number,
				 __ATOMIC_RELAXED);
}

void unwind_flush(void)
{
	for (u32 i = 0; i < CACHE_SLOTS; i++)
		__atomic_store_n(&cache.words[i], 0, __ATOMIC_RELAXED);
}

/* glibc 2.35 and later; may be called in a signal handler (glibc manual, "Dynamic Linker"). */
extern int _dl_find_object(void *, struct dl_find_object *) __attribute__((weak));

/* The segment that holds the unwind table: all that the rule finder may read. */
static bool image_find_segment(const ElfW(Ehdr) * header, u64 bias, u64 table, struct mem *mem)
{
	const ElfW(Phdr) *segments = (const void *)((const char *)header + header->e_phoff);

	for (u32 i = 0; i < header->e_phnum && i < MAX_PROGRAM_HEADERS; i++) {
		u64 low = bias + segments[i].p_vaddr;

		if (segments[i].p_type == PT_LOAD &&
		    memory_covers(low, low + segments[i].p_filesz, table, 1)) {
			mem->image_low = low;
			mem->image_high = low + segments[i].p_filesz;
			return true;
		}
	}
	return false;
}

/* Describes the image that holds address, from its own program headers. */
static bool image_find(u64 address, struct mem *mem, struct native_image *out_image)
{
	struct dl_find_object found;

	if (_dl_find_object == NULL || _dl_find_object((void *)address, &found) != 0)
		return false;
	const ElfW(Ehdr) *header = found.dlfo_map_start;
	const struct image_place place = { .start = (u64)found.dlfo_map_start,
					   .end = (u64)found.dlfo_map_end,
					   .load_bias = (u64)found.dlfo_link_map->l_addr,
					   .path = found.dlfo_link_map->l_name };
	struct native_image image = { .start = place.start, .end = place.end };

	if (agent.has_timers)
		emit_image(agent.ring, &place);

	/* The first page holds the headers in every image a linker makes; else: no rules. */
	if (__builtin_memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_phoff + header->e_phnum * sizeof(ElfW(Phdr)) > MEMORY_PAGE)
		return false;
	const ElfW(Phdr) *segments = (const void *)((const char *)header + header->e_phoff);
	u64 bias = place.load_bias;

	for (u32 i = 0; i < header->e_phnum && i < MAX_PROGRAM_HEADERS; i++) {
		if (segments[i].p_type != PT_GNU_EH_FRAME)
			continue;
		image.eh_frame_hdr = bias + segments[i].p_vaddr;
		image.eh_frame_hdr_len = segments[i].p_memsz;
	}
	if (image.eh_frame_hdr == 0 ||
	    !image_find_segment(header, bias, image.eh_frame_hdr, mem))
		return false;
	*out_image = image;
	return true;
}

static enum walk_status rule_for(struct mem *mem, u64 address, u64 *out_rule)
{
	struct native_image image;
	u64 rule = cache_get(address);

	if (rule == 0) {
		if (!image_find(address, mem, &image))
			return WALK_NO_MODULE;
		enum walk_status status = native_rule_find(mem, &image, address, &rule);

		if (status != WALK_COMPLETE)
			return status;
		cache_put(address, rule);
	}
	*out_rule = rule;
	return WALK_COMPLETE;
}

/* One step outwards by whatever means there are. */
static enum walk_status walk_step(struct mem *mem, struct native_regs *regs, bool is_exact,
				  struct native_step *out_step)
{
	u64 rule;
	enum walk_status status = rule_for(mem, is_exact ? regs->ip : regs->ip - 1, &rule);

	*out_step = (struct native_step){ 0 };
	if (status == WALK_COMPLETE)
		return native_step(mem, rule, regs, out_step);
	if (status != WALK_NO_RULE && status != WALK_NO_MODULE)
		return status;
	/* Code without rules: the tally keeps the reason unless the step holds. */
	if (native_step_frame_pointer(mem, regs) != WALK_COMPLETE)
		return status;
	return WALK_COMPLETE;
}

void unwind_walk(struct native_regs regs, struct walk *walk)
{
	struct mem mem;
	struct native_step step;
	bool is_exact = true;

	memory_begin(&mem, regs.sp);
	for (walk->count = 0;;) {
		walk->ending = (u8)walk_step(&mem, &regs, is_exact, &step);
		if (walk->ending != WALK_COMPLETE || step.is_last)
			return;
		if (walk->count == AGENT_MAX_FRAMES) {
			walk->ending = WALK_TOO_DEEP;
			return;
		}
		is_exact = step.is_exact;
		walk->frames[walk->count++] = is_exact ? regs.ip : regs.ip - 1;
	}
}
