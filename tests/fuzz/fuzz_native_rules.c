/*
 * An image of arbitrary bytes with .eh_frame_hdr and .eh_frame at arbitrary places in it, an
 * arbitrary address to look up, then steps by the rule that was found, and by an arbitrary
 * one, with the same bytes as a stack.
 *
 *	16 bit each: lookup, .eh_frame_hdr, its length, .eh_frame, its length (0: unknown)
 *	64 bit each: a rule, ip, sp, fp, bx, lr
 *	the rest: the image, which is the stack too
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The image lies at its own address, so pcrel pointers may lead anywhere. */
struct mem {
	const uint8_t *bytes;
	uint64_t len;
	uint64_t reads;
};

#include "walk/native.h"

#define IMAGE 0x10000ULL
#ifdef X86_SCAN_INSTRUCTIONS
/* The straight way and one past each jump; an instruction at the image's end is read by bytes. */
#define SCAN_WAYS  (1 + X86_SCAN_JUMPS)
#define INSN_READS (1 + X86_INSN_MAX)
#define SCAN_READS (SCAN_WAYS * X86_SCAN_INSTRUCTIONS * INSN_READS)
/* Its caller may be on another stack: x86_is_outwards(). */
#define MAY_LEAVE(rule) (((rule)&15) >= X86_FORM_BX && !native_rule_is_guess(rule))
#else
#define SCAN_READS      0 /* aarch64's code is not scanned */
#define MAY_LEAVE(rule) 0
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline int mem_read(struct mem *mem, void *dst, u32 len, u64 addr)
{
	mem->reads++;
	if (addr < IMAGE || addr - IMAGE > mem->len || len > mem->len - (addr - IMAGE))
		return -1;
	memcpy(dst, mem->bytes + (addr - IMAGE), len);
	return 0;
}

static void check(int is_true)
{
	if (!is_true)
		abort();
}

struct head {
	uint16_t lookup, hdr, hdr_len, frame, frame_len;
	uint64_t rule;
	struct native_regs regs;
};

static uint64_t take(const uint8_t **at, size_t len)
{
	uint64_t value = 0;

	memcpy(&value, *at, len);
	*at += len;
	return value;
}

#define HEAD_LEN (5 * 2 + 6 * 8)

static struct head head_of(const uint8_t *at)
{
	struct head h;

	h.lookup = (uint16_t)take(&at, 2);
	h.hdr = (uint16_t)take(&at, 2);
	h.hdr_len = (uint16_t)take(&at, 2);
	h.frame = (uint16_t)take(&at, 2);
	h.frame_len = (uint16_t)take(&at, 2);
	h.rule = take(&at, 8);
	h.regs.ip = take(&at, 8);
	h.regs.sp = take(&at, 8);
	h.regs.fp = take(&at, 8);
	h.regs.bx = take(&at, 8);
	h.regs.lr = take(&at, 8);
	return h;
}

/* Steps outwards until a reason: sp grows, but where the caller may be on another stack. */
static void walk(struct mem *mem, uint64_t rule, struct native_regs regs)
{
	for (unsigned i = 0; i < 64; i++) {
		struct native_regs before = regs;
		struct native_step step = { 0 };
		enum walk_status status = native_step(mem, rule, &regs, &step);

		check((unsigned)status < WALK_STATUS_COUNT);
		if (status != WALK_COMPLETE || step.is_last) {
			check(memcmp(&before, &regs, sizeof regs) == 0);
			return;
		}
		check(step.is_exact || regs.sp >= before.sp || MAY_LEAVE(rule));
		check(step.is_exact || regs.lr == 0);
		check(regs.ip != 0 || step.is_exact);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < HEAD_LEN || size - HEAD_LEN > 0xffff)
		return 0;
	struct head h = head_of(data);
	/* A copy of its own, so that a sanitizer sees a read one byte too far. */
	uint64_t len = size - HEAD_LEN;
	uint8_t *bytes = malloc(len > 0 ? len : 1);
	memcpy(bytes, data + HEAD_LEN, len);
	struct mem mem = { .bytes = bytes, .len = len };
	struct native_image image = { .start = IMAGE,
				      .end = IMAGE + len,
				      .eh_frame_hdr = h.hdr ? IMAGE + h.hdr : 0,
				      .eh_frame_hdr_len = h.hdr_len,
				      .eh_frame = h.frame ? IMAGE + h.frame : 0,
				      .eh_frame_len = h.frame_len };
	uint64_t rule = 0;
	enum walk_status status = native_rule_find(&mem, &image, IMAGE + h.lookup, &rule);

	check((unsigned)status < WALK_STATUS_COUNT);
	check((status == WALK_COMPLETE) == (rule != 0));
	/*
	 * Each record of eight bytes may lead to a CIE that is read again, and so on.  Where none
	 * has a rule, instructions are read, on each of the ways that conditional jumps leave.
	 */
	check(mem.reads <= 1000 + 16 * len + SCAN_READS);
	if (rule != 0)
		walk(&mem, rule, h.regs);
	walk(&mem, h.rule, h.regs);
	native_step_made_code(&mem, 0, 1, &h.regs);
	native_step_frame_pointer(&mem, &h.regs);
	free(bytes);
	return 0;
}
