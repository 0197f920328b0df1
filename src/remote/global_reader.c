#include "remote/global_reader.h"

#include <string.h>

#include "remote/memory.h"

#define CODE_SIZE 48U
#define STEPS_MAX 4

#if defined(__x86_64__)
/* The length of an optional entry sequence: endbr64; push %rbp; mov %rsp,%rbp. */
static uint32_t skip_entry(const uint8_t *code)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const uint8_t frame[] = { 0x55, 0x48, 0x89, 0xe5 };
	uint32_t at = 0;

	if (memcmp(code, endbr, sizeof endbr) == 0)
		at += sizeof endbr;
	if (memcmp(code + at, frame, sizeof frame) == 0)
		at += sizeof frame;
	return at;
}

/* The length of mov offset(%rax),%rax if that is the next instruction; else 0. */
static uint32_t load_field(const uint8_t *code, int32_t *out_offset)
{
	*out_offset = 0;
	if (code[0] != 0x48 || code[1] != 0x8b)
		return 0;
	if (code[2] == 0x00)
		return 3;
	if (code[2] == 0x40) {
		*out_offset = (int8_t)code[3];
		return 4;
	}
	if (code[2] != 0x80)
		return 0;
	memcpy(out_offset, code + 3, sizeof *out_offset);
	return 7;
}

bool global_reader_find(struct mem *mem, uint64_t function, uint64_t *out_address)
{
	uint8_t code[CODE_SIZE];
	int32_t distance, offset;
	uint64_t address, value;
	uint32_t at, len;

	if (mem_read(mem, code, sizeof code, function) < 0)
		return false;
	at = skip_entry(code);
	if (code[at] != 0x48 || (code[at + 1] != 0x8b && code[at + 1] != 0x8d) ||
	    code[at + 2] != 0x05)
		return false;
	memcpy(&distance, code + at + 3, sizeof distance);
	address = function + at + 7 + (uint64_t)(int64_t)distance;
	value = address;
	/* lea: rax is the address itself; a load: rax is the word at the address. */
	if (code[at + 1] == 0x8b && mem_read(mem, &value, sizeof value, address) < 0)
		return false;
	at += 7;
	for (int i = 0; i < STEPS_MAX && (len = load_field(code + at, &offset)) > 0; i++) {
		address = value + (uint64_t)(int64_t)offset;
		if (mem_read(mem, &value, sizeof value, address) < 0)
			return false;
		at += len;
	}
	*out_address = address;
	return code[at] == 0xc3 || (code[at] == 0x5d && code[at + 1] == 0xc3);
}
#else
bool global_reader_find(struct mem *mem, uint64_t function, uint64_t *out_address)
{
	(void)mem;
	(void)function;
	(void)out_address;
	return false;
}
#endif
