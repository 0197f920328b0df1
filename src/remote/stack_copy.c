#include "remote/stack_copy.h"

#include <errno.h>
#include <linux/perf_event.h>

#include "base/bytes.h"

#if defined(__aarch64__)
static uint8_t dwarf_number(uint8_t i)
{
	return i;
}
enum { PLACE_FP = 29, PLACE_BX = 19, PLACE_LR = 30, PLACE_SP = 31, PLACE_PC = 32 };
#else
static uint8_t dwarf_number(uint8_t i)
{
	static const uint8_t numbers[STACK_COPY_REGISTERS] = {
		0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 8, 9, 10, 11, 12, 13, 14, 15
	};

	return numbers[i];
}
enum { PLACE_FP = 6, PLACE_BX = 3, PLACE_LR = 17, PLACE_SP = 7, PLACE_PC = 16 };
#endif

/* A stack of size 0 has no field for the number of bytes copied (perf_event_open(2)). */
static int take_stack(struct bytes *b, struct stack_copy *copy)
{
	const uint64_t size = bytes_u64(b);

	if (b->short_read || size > UINT16_MAX)
		return -EBADMSG;
	if (size == 0)
		return 0;
	copy->stack = bytes_take(b, size);
	const uint64_t copied = bytes_u64(b);

	if (b->short_read || copied > size)
		return -EBADMSG;
	copy->len = copied;
	return 0;
}

int stack_copy_take(struct bytes *b, struct stack_copy *out_copy)
{
	struct stack_copy copy = { .registers.has_all = true };
	struct walk_registers *registers = &copy.registers;
	const uint64_t abi = bytes_u64(b);

	if (b->short_read)
		return -EBADMSG;
	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return -ENODATA;
	for (uint8_t i = 0; i < STACK_COPY_REGISTERS; i++)
		registers->all[dwarf_number(i)] = bytes_u64(b);
	copy.is_32_bit = abi == PERF_SAMPLE_REGS_ABI_32;
	registers->pc = registers->all[PLACE_PC];
	registers->sp = registers->all[PLACE_SP];
	registers->fp = registers->all[PLACE_FP];
	registers->bx = registers->all[PLACE_BX];
	registers->lr = registers->all[PLACE_LR];
	const int rc = take_stack(b, &copy);

	if (rc == 0)
		*out_copy = copy;
	return rc;
}
