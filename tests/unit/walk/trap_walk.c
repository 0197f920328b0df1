/* trap_walk - see trap_walk.h */
#include "trap_walk.h"
#include "trap_shadow.h"
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#define REGIONS_MAX 8
#define IMAGES_MAX  64
#define CACHE_SLOTS 65536

struct region {
	uint64_t low, high;
};

/* What a walk may read: stacks and images. */
struct mem {
	struct region stacks[REGIONS_MAX];
	uint32_t stack_count;
	struct region images[IMAGES_MAX];
	uint32_t image_count;
};

#include "walk/native.h"

static int region_holds(const struct region *r, uint32_t count, uint64_t addr, uint32_t len)
{
	for (uint32_t i = 0; i < count; i++)
		if (addr >= r[i].low && addr < r[i].high && len <= r[i].high - addr)
			return 1;
	return 0;
}

static inline int mem_read(struct mem *mem, void *dst, u32 len, u64 addr)
{
	if (!region_holds(mem->stacks, mem->stack_count, addr, len) &&
	    !region_holds(mem->images, mem->image_count, addr, len))
		return -1;
	memcpy(dst, (const void *)(uintptr_t)addr, len);
	return 0;
}

struct cached_rule {
	uint64_t lookup, rule;
	enum walk_status status;
};

struct walk {
	uint64_t ip[SHADOW_FRAMES_MAX + 1];
	uint32_t count;
	enum walk_status status;
};

/*
 * What an int3 asks for, in a register: a signal may come between any two instructions, and its
 * handler asks for something itself.
 */
enum request { REQUEST_START = 1, REQUEST_STOP, REQUEST_SIGNAL };

static struct {
	struct mem mem;
	struct native_image images[IMAGES_MAX];
	struct cached_rule cache[CACHE_SLOTS];
	struct trap_walk_result *result;
	uint64_t limit;        /* 0: none */
	uint64_t signal_every; /* instructions outside of signal handlers; 0: never */
	uint64_t signal_countdown;
	int has_main_stack;
} all;

/* One walk at a time in each thread; only one thread is walked at a time. */
static __thread int is_walking;

static struct shadow shadow;
static struct walk walk;

/* ---- the images ---- */

static int learn_image(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct native_image *image = &all.images[all.mem.image_count];

	(void)size;
	(void)unused;
	if (all.mem.image_count == IMAGES_MAX)
		return 1;
	*image = (struct native_image){ .start = UINT64_MAX };
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
	image->start &= ~4095ULL;
	all.mem.images[all.mem.image_count++] = (struct region){ image->start, image->end };
	return 0;
}

void trap_walk_learn_images(void)
{
	memset(all.cache, 0, sizeof all.cache);
	all.mem.image_count = 0;
	dl_iterate_phdr(learn_image, NULL);
}

void trap_walk_add_stack(const void *low, uint64_t len)
{
	uint64_t start = (uintptr_t)low;

	if (all.mem.stack_count < REGIONS_MAX)
		all.mem.stacks[all.mem.stack_count++] = (struct region){ start, start + len };
}

void trap_walk_set_limit(uint64_t instructions)
{
	all.limit = instructions;
}

void trap_walk_set_signal_every(uint64_t instructions)
{
	all.signal_every = instructions;
	all.signal_countdown = instructions;
}

static const struct native_image *image_of(uint64_t addr)
{
	for (uint32_t i = 0; i < all.mem.image_count; i++)
		if (addr >= all.images[i].start && addr < all.images[i].end)
			return &all.images[i];
	return NULL;
}

/* ---- the walk ---- */

static enum walk_status find_rule(uint64_t lookup, uint64_t *out_rule)
{
	struct cached_rule *c = &all.cache[(lookup ^ lookup >> 16) & (CACHE_SLOTS - 1)];

	if (c->lookup != lookup) {
		const struct native_image *image = image_of(lookup);
		c->lookup = lookup;
		c->status = image == NULL ? WALK_NO_MODULE
					  : native_rule_find(&all.mem, image, lookup, &c->rule);
	}
	*out_rule = c->rule;
	return c->status;
}

/* DWARF's numbers of the general registers, as indices of gregs. */
static const int greg_of_dwarf[16] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
				       REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
				       REG_R12, REG_R13, REG_R14, REG_R15 };

static enum walk_status step_by(uint64_t rule, struct native_regs *regs,
				struct native_step *out_step)
{
	static struct eh_lookup scratch;
	const struct native_image *image = image_of(regs->ip);

	if (native_rule_is_eh_return(rule) && image != NULL)
		return native_step_eh_return(&all.mem, &scratch, image, rule, regs, out_step);
	return native_step(&all.mem, rule, regs, out_step);
}

static void walk_from(const greg_t *gregs)
{
	struct native_regs regs = { .ip = (uint64_t)gregs[REG_RIP],
				    .sp = (uint64_t)gregs[REG_RSP],
				    .fp = (uint64_t)gregs[REG_RBP],
				    .bx = (uint64_t)gregs[REG_RBX] };
	struct native_step step = { .is_exact = 1 };
	uint64_t rule;

	for (walk.count = 0; walk.count <= SHADOW_FRAMES_MAX;) {
		walk.ip[walk.count++] = regs.ip;
		walk.status = find_rule(regs.ip - !step.is_exact, &rule);
		if (walk.status != WALK_COMPLETE)
			return;
		if (walk.count == 1 && native_rule_leaf_register(rule) < 16)
			regs.lr =
				(uint64_t)gregs[greg_of_dwarf[native_rule_leaf_register(rule)]];
		walk.status = step_by(rule, &regs, &step);
		if (walk.status != WALK_COMPLETE || step.is_last)
			return;
	}
	walk.status = WALK_TOO_DEEP;
}

/* ---- the comparison ---- */

/* The number of innermost frames that are right. */
static uint32_t frames_right(void)
{
	uint32_t i = 1;

	while (i < walk.count && i <= shadow.depth &&
	       walk.ip[i] == shadow.entries[shadow.depth - i].ip)
		i++;
	return i;
}

static int is_in_libgcc(uint64_t ip)
{
	const struct native_image *libgcc = image_of((uintptr_t)_Unwind_GetIP);

	return libgcc != NULL && libgcc == image_of(ip);
}

/*
 * Whether the walk has, besides libgcc's, the frames from the landing pad's on outwards; that one's
 * address is where it last called something, or the pad.
 */
static int is_without_discarded(void)
{
	const uint32_t right = frames_right();
	const uint32_t outer = walk.count - right - 1;

	if (walk.status != WALK_COMPLETE || right == walk.count || outer > shadow.depth)
		return 0;
	for (uint32_t i = 0; i < outer; i++)
		if (walk.ip[walk.count - 1 - i] != shadow.entries[i].ip)
			return 0;
	return 1;
}

/*
 * What cannot be right, because the stack itself is not:
 * - an exception is on its way to a landing pad: libgcc has written the pad's address and
 *   registers over its own frame, and goes there by __builtin_eh_return: then the walk must say
 *   so, or have all frames that are not discarded;
 * - nothing has called ld.so's entry code, and no rule describes it: its last instructions,
 *   between the constructors and the program's _start, have no stack to walk;
 * - __longjmp has half restored the registers of another frame.
 */
static uint64_t *excuse(void)
{
	if (walk.status == WALK_UNWINDING
		    ? frames_right() == walk.count
		    : is_in_libgcc(walk.ip[frames_right() - 1]) && is_without_discarded())
		return &all.result->excused_eh_return;
	if (shadow.depth == 0 && walk.count == 1 && walk.status == WALK_NO_RULE)
		return &all.result->excused_entry;
	if (walk.status == WALK_BAD_RULE && frames_right() == walk.count)
		return &all.result->excused_longjmp;
	return NULL;
}

static void print_difference(void)
{
	char line[256];
	int len;

	if (all.result->printed++ >= 2)
		return;
	len = snprintf(line, sizeof line, "wrong after %lu: status %d, %u frames, not %u\n",
		       all.result->instructions, walk.status, walk.count, shadow.depth + 1);
	(void)!write(2, line, (size_t)len);
	for (uint32_t i = 0; i < 14; i++) {
		Dl_info info = { 0 };
		uint64_t ours = i < walk.count ? walk.ip[i] : 0;
		uint64_t truth = i == 0              ? shadow.last_ip
				 : i <= shadow.depth ? shadow.entries[shadow.depth - i].ip
						     : 0;
		dladdr((void *)(uintptr_t)(ours ? ours : truth), &info);
		len = snprintf(line, sizeof line, "  ours %#lx truth %#lx %s %s+%#lx\n", ours,
			       truth, info.dli_sname ? info.dli_sname : "?",
			       info.dli_fname ? info.dli_fname : "?",
			       (ours ? ours : truth) - (uintptr_t)info.dli_fbase);
		if (ours != 0 || truth != 0)
			(void)!write(2, line, (size_t)len);
	}
}

static void compare(void)
{
	struct trap_walk_result *r = all.result;

	r->instructions++;
	r->frames += walk.count;
	r->signal_frames += shadow.signals > 0;
	if (walk.count > r->deepest)
		r->deepest = walk.count;
	if (walk.status == WALK_COMPLETE && walk.count == shadow.depth + 1 &&
	    frames_right() == walk.count) {
		r->right++;
	} else if (excuse() != NULL) {
		++*excuse();
	} else {
		r->wrong++;
		print_difference();
	}
}

/* ---- the trap ---- */

#define TRAP_FLAG       0x100
#define TRAP_BREAKPOINT 3

/* The registers of request(). */
static void on_request(const greg_t *gregs)
{
	switch ((enum request)gregs[REG_RAX]) {
	case REQUEST_START:
		shadow_begin(&shadow);
		is_walking = 1;
		break;
	case REQUEST_STOP:
		is_walking = 0;
		break;
	case REQUEST_SIGNAL:
		if (is_walking) /* else a late signal, after the end */
			shadow_enter_signal(&shadow,
					    (const ucontext_t *)(uintptr_t)gregs[REG_RDI],
					    (uint64_t)gregs[REG_RSI]);
		break;
	}
}

/* It waits until the trap has been handled: then it is at the next instruction. */
static void signal_sometimes(void)
{
	if (all.signal_every == 0 || shadow.signals > 0 || --all.signal_countdown > 0)
		return;
	all.signal_countdown = all.signal_every;
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGALRM);
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	ucontext_t *c = context;
	greg_t *gregs = c->uc_mcontext.gregs;

	(void)number;
	(void)info;
	if (gregs[REG_TRAPNO] == TRAP_BREAKPOINT) {
		on_request(gregs);
	} else if (is_walking) {
		shadow_follow(&shadow, gregs);
		walk_from(gregs);
		compare();
		signal_sometimes();
		if (all.limit != 0 && all.result->instructions >= all.limit)
			is_walking = 0;
	}
	if (is_walking)
		gregs[REG_EFL] |= TRAP_FLAG;
	else
		gregs[REG_EFL] &= ~TRAP_FLAG;
}

static void add_main_stack(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	uint64_t low, high;

	if (f == NULL)
		abort();
	while (fgets(line, sizeof line, f) != NULL)
		if (strstr(line, "[stack]") != NULL &&
		    sscanf(line, "%lx-%lx", &low, &high) == 2)
			trap_walk_add_stack((const void *)(uintptr_t)(high - (8 << 20)),
					    8 << 20);
	fclose(f);
}

void trap_walk_init(struct trap_walk_result *result)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

	all.result = result;
	if (!all.has_main_stack)
		add_main_stack();
	all.has_main_stack = 1;
	trap_walk_learn_images();
	sigfillset(&action.sa_mask);
	sigaction(SIGTRAP, &action, NULL);
}

/* handler_slot: where the address that trap_walk_in_handler() returns to lies. */
static inline __attribute__((always_inline)) void
request(enum request what, const ucontext_t *interrupted, uint64_t handler_slot)
{
	__asm__ volatile("int3" : : "a"(what), "D"(interrupted), "S"(handler_slot) : "memory");
}

__attribute__((noinline)) void trap_walk_start(void)
{
	shadow_learn_callers();
	request(REQUEST_START, NULL, 0);
}

__attribute__((noinline)) void trap_walk_stop(void)
{
	request(REQUEST_STOP, NULL, 0);
}

__attribute__((noinline)) void trap_walk_in_handler(const ucontext_t *context)
{
	request(REQUEST_SIGNAL, context, (uintptr_t)__builtin_dwarf_cfa() - 8);
}
