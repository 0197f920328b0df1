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

#include "vantage/agent/arch.h"

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

/* An image's program headers, and what is added to their addresses. */
struct segments {
	const ElfW(Phdr) * headers;
	u32 count;
	u64 bias;
};

static bool is_elf_header(const ElfW(Ehdr) * header)
{
	return __builtin_memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_phoff + header->e_phnum * sizeof(ElfW(Phdr)) <= MEMORY_PAGE;
}

/*
 * Where an image's program headers are: in its first page, which is where the dynamic linker
 * says the image begins, unless the image has gaps: then that is the segment's beginning, and
 * the image's own is at its load bias.  The program's are told by the kernel.
 */
static bool image_find_segments(const struct dl_find_object *found, struct segments *out)
{
	const ElfW(Ehdr) *header = found->dlfo_map_start;

	out->bias = (u64)found->dlfo_link_map->l_addr;
	if (found->dlfo_link_map->l_name[0] == '\0' && agent.program_headers != NULL) {
		out->headers = agent.program_headers;
		out->count = agent.program_header_count;
		return true;
	}
	if (!is_elf_header(header)) {
		header = (const void *)out->bias;
		if (!agent.may_call || !memory_probe(out->bias) || !is_elf_header(header))
			return false;
	}
	out->headers = (const void *)((const char *)header + header->e_phoff);
	out->count = header->e_phnum;
	return true;
}

/*
 * The whole image, and its unwind table with the segment around it: all a rule may be read
 * from.
 */
static bool image_measure(const struct segments *segments, struct mem *mem,
			  struct native_image *image)
{
	u64 table = 0;

	image->start = UINT64_MAX;
	for (u32 i = 0; i < segments->count && i < MAX_PROGRAM_HEADERS; i++) {
		const ElfW(Phdr) *segment = &segments->headers[i];
		const u64 low = segments->bias + segment->p_vaddr;

		if (segment->p_type == PT_GNU_EH_FRAME) {
			table = low;
			image->eh_frame_hdr_len = segment->p_memsz;
		}
		if (segment->p_type != PT_LOAD)
			continue;
		image->start = low < image->start ? low : image->start;
		if (low + segment->p_memsz > image->end)
			image->end = low + segment->p_memsz;
	}
	image->eh_frame_hdr = table;
	for (u32 i = 0; i < segments->count && i < MAX_PROGRAM_HEADERS; i++) {
		const ElfW(Phdr) *segment = &segments->headers[i];
		const u64 low = segments->bias + segment->p_vaddr;

		if (segment->p_type == PT_LOAD &&
		    memory_covers(low, low + segment->p_filesz, table, 1)) {
			mem->image_low = low;
			mem->image_high = low + segment->p_filesz;
			return true;
		}
	}
	return false;
}

/* Describes the image that holds address, from its own program headers. */
static bool image_find(u64 address, struct mem *mem, struct native_image *out_image)
{
	struct dl_find_object found;
	struct segments segments;
	struct native_image image = { 0 };

	if (_dl_find_object == NULL || _dl_find_object((void *)address, &found) != 0 ||
	    !image_find_segments(&found, &segments) || !image_measure(&segments, mem, &image))
		return false;
	if (agent.has_timers)
		emit_image(agent.ring, &(struct image_place){
					       .start = image.start,
					       .end = image.end,
					       .load_bias = segments.bias,
					       .path = found.dlfo_link_map->l_name,
				       });
	*out_image = image;
	return true;
}

static enum walk_status rule_for(struct mem *mem, struct native_scratch *scratch, u64 address,
				 u64 *out_rule)
{
	struct native_image image;
	u64 rule = cache_get(address);

	if (rule == 0) {
		if (!image_find(address, mem, &image))
			return WALK_NO_MODULE;
		enum walk_status status =
			native_rule_find_in(scratch, mem, &image, address, &rule);

		if (status != WALK_COMPLETE)
			return status;
		cache_put(address, rule);
	}
	*out_rule = rule;
	return WALK_COMPLETE;
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
	enum walk_status status =
		rule_for(mem, walk->rules, is_exact ? regs->ip : regs->ip - 1, &rule);

	*out_step = (struct native_step){ 0 };
	if (status == WALK_COMPLETE) {
		if (context != NULL)
			walk_fetch_leaf_register(context, rule, regs);
		return native_step(mem, rule, regs, out_step);
	}
	if (status != WALK_NO_RULE && status != WALK_NO_MODULE)
		return status;
	/* Code without rules: the tally keeps the reason unless the step holds. */
	if (native_step_frame_pointer(mem, regs) != WALK_COMPLETE)
		return status;
	return WALK_COMPLETE;
}

void unwind_walk(const ucontext_t *context, struct walk *walk)
{
	struct native_regs regs = ARCH_REGS_OF(context);
	struct mem mem;
	struct native_step step;
	bool is_exact = true;

	walk->leaf = regs.ip;
	memory_begin(&mem, regs.sp);
	for (walk->count = 0;;) {
		walk->ending = (u8)walk_step(&mem, walk, walk->count == 0 ? context : NULL,
					     is_exact, &regs, &step);
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
