/*
 * frames - .eh_frame sections made by hand, and a stack that notes where it was read.
 *
 * Include it after naming the processor (NATIVE_X86_64 or NATIVE_AARCH64).
 */
#pragma once
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define IMAGE     0x400000ULL /* where the image stands */
#define IMAGE_LEN 0x8000ULL
#define CODE      IMAGE /* its code: zeros, unless a test writes some */
#define EH_FRAME  (IMAGE + 0x4000)
#define EH_HDR    (IMAGE + 0x3000)
#define STACK     0x7f0000000000ULL
#define STACK_LEN 0x100000ULL

/* Every word of the stack holds its own address plus this, but for those a test has set. */
#define READ_FROM(addr) ((uint64_t)(addr) + 0x2000)
#define STACK_SET_MAX   16

struct mem {
	uint8_t image[IMAGE_LEN];
	uint64_t frame_len; /* bytes of .eh_frame so far */
	uint64_t set_addr[STACK_SET_MAX], set_word[STACK_SET_MAX];
	size_t set_count;
	size_t reads;
	uint64_t image_gap; /* from here on the image cannot be read; 0: all can */
};

#include "walk/native.h"

static inline uint64_t stack_word(const struct mem *mem, uint64_t addr)
{
	for (size_t i = 0; i < mem->set_count; i++)
		if (mem->set_addr[i] == addr)
			return mem->set_word[i];
	return READ_FROM(addr);
}

static inline int mem_read(struct mem *mem, void *dst, u32 len, u64 addr)
{
	mem->reads++;
	if (mem->image_gap != 0 && addr >= IMAGE && addr < IMAGE + IMAGE_LEN &&
	    addr + len > mem->image_gap)
		return -1;
	if (addr >= IMAGE && addr < IMAGE + IMAGE_LEN && len <= IMAGE + IMAGE_LEN - addr) {
		memcpy(dst, mem->image + (addr - IMAGE), len);
		return 0;
	}
	if (addr < STACK || addr >= STACK + STACK_LEN || len > STACK + STACK_LEN - addr ||
	    len % 8 != 0)
		return -1;
	for (u32 i = 0; i < len; i += 8) {
		uint64_t word = stack_word(mem, addr + i);
		memcpy((char *)dst + i, &word, 8);
	}
	return 0;
}

static inline void stack_set(struct mem *mem, uint64_t addr, uint64_t word)
{
	if (mem->set_count == STACK_SET_MAX)
		abort();
	mem->set_addr[mem->set_count] = addr;
	mem->set_word[mem->set_count++] = word;
}

static inline void image_put(struct mem *mem, uint64_t addr, const void *bytes, size_t len)
{
	if (addr < IMAGE || addr - IMAGE + len > IMAGE_LEN)
		abort();
	memcpy(mem->image + (addr - IMAGE), bytes, len);
}

static inline void image_put_u32(struct mem *mem, uint64_t addr, uint64_t value)
{
	uint32_t word = (uint32_t)value;

	image_put(mem, addr, &word, sizeof word);
}

/* One more byte of .eh_frame. */
static inline void frame_put(struct mem *mem, const void *bytes, size_t len)
{
	image_put(mem, EH_FRAME + mem->frame_len, bytes, len);
	mem->frame_len += len;
}

static inline void frame_put_u32(struct mem *mem, uint64_t value)
{
	uint32_t word = (uint32_t)value;

	frame_put(mem, &word, sizeof word);
}

/* Pads the record that began at `begin` to a multiple of 8 and writes its length. */
static inline void frame_end_record(struct mem *mem, uint64_t begin)
{
	while (mem->frame_len % 8 != 4)
		frame_put(mem, "", 1); /* DW_CFA_nop */
	image_put_u32(mem, EH_FRAME + begin, mem->frame_len - begin - 4);
}

/*
 * A CIE with an augmentation string and its data; code is aligned to 1, data to -8.
 * Returns its offset in .eh_frame.
 */
static inline uint64_t frame_put_cie(struct mem *mem, const char *augmentation,
				     const void *data, size_t data_len, const void *program,
				     size_t program_len)
{
	uint64_t begin = mem->frame_len;
	uint8_t factors[3] = { 1, 0x78, CFA_RA_REGISTER };
	uint8_t size = (uint8_t)data_len;

	frame_put_u32(mem, 0);
	frame_put_u32(mem, 0);
	frame_put(mem, "\1", 1);
	frame_put(mem, augmentation, strlen(augmentation) + 1);
	frame_put(mem, factors, sizeof factors);
	if (augmentation[0] == 'z')
		frame_put(mem, &size, 1);
	frame_put(mem, data, data_len);
	frame_put(mem, program, program_len);
	frame_end_record(mem, begin);
	return begin;
}

/* An FDE with pcrel|sdata4 addresses and empty augmentation data. */
static inline uint64_t frame_put_fde(struct mem *mem, uint64_t cie, uint64_t function,
				     uint32_t len, const void *program, size_t program_len)
{
	uint64_t begin = mem->frame_len;

	frame_put_u32(mem, 0);
	frame_put_u32(mem, mem->frame_len - cie);
	frame_put_u32(mem, function - (EH_FRAME + mem->frame_len));
	frame_put_u32(mem, len);
	frame_put(mem, "", 1);
	frame_put(mem, program, program_len);
	frame_end_record(mem, begin);
	return begin;
}

static inline void frame_put_end(struct mem *mem)
{
	frame_put_u32(mem, 0);
}

/* The usual CIE: zR, pcrel|sdata4; CFA = sp + 8, return address at CFA - 8. */
static inline uint64_t frame_put_usual_cie(struct mem *mem)
{
#ifdef NATIVE_AARCH64
	static const uint8_t program[] = { 0x0c, 31, 0 };
#else
	static const uint8_t program[] = { 0x0c, 7, 8, 0x90, 1 };
#endif
	return frame_put_cie(mem, "zR", "\x1b", 1, program, sizeof program);
}

/* A table of `count` functions, sorted as given. */
static inline void table_put(struct mem *mem, const uint64_t *functions, const uint64_t *fdes,
			     uint32_t count)
{
	static const uint8_t head[4] = { 1, 0x1b, 0x03, 0x3b };

	image_put(mem, EH_HDR, head, sizeof head);
	image_put_u32(mem, EH_HDR + 4, EH_FRAME - (EH_HDR + 4));
	image_put_u32(mem, EH_HDR + 8, count);
	for (uint32_t i = 0; i < count; i++) {
		image_put_u32(mem, EH_HDR + 12 + 8 * i, functions[i] - EH_HDR);
		image_put_u32(mem, EH_HDR + 16 + 8 * i, EH_FRAME + fdes[i] - EH_HDR);
	}
}

static inline struct native_image image_without_table(const struct mem *mem)
{
	return (struct native_image){ .start = IMAGE,
				      .end = IMAGE + IMAGE_LEN,
				      .eh_frame = EH_FRAME,
				      .eh_frame_len = mem->frame_len };
}

static inline struct native_image image_with_table(uint32_t count)
{
	return (struct native_image){ .start = IMAGE,
				      .end = IMAGE + IMAGE_LEN,
				      .eh_frame_hdr = EH_HDR,
				      .eh_frame_hdr_len = 12 + 8 * count };
}

/* Registers that differ, all on the stack. */
static inline struct native_regs some_regs(uint64_t ip)
{
	return (struct native_regs){ .ip = ip,
				     .sp = STACK + 0x1000,
				     .fp = STACK + 0x1400,
				     .bx = STACK + 0x1800,
				     .lr = STACK + 0x1c00 };
}
#define SP (STACK + 0x1000)
#define FP (STACK + 0x1400)
#define BX (STACK + 0x1800)
#define LR (STACK + 0x1c00)
