/*
 * Decodes PLT stubs of aarch64 (objdump -d -j .plt), which may begin with a bti:
 *   adrp x16, page; ldr x17, [x16, #offset]; add x16, x16, #offset; [autia1716]; br x17
 */
#include "plt_machine.h"

#include "base/bytes.h"

#define BR_X17   0xd61f0220u
#define STUB_MAX 24

/* adrp's 21-bit page number: the two low bits at bit 29, the others at bit 5. */
static uint64_t adrp_target(uint32_t instruction, uint64_t address)
{
	uint64_t pages = (instruction >> 5 & 0x7ffff) << 2 | (instruction >> 29 & 3);
	uint64_t sign = UINT64_C(1) << 20;

	return (address & ~UINT64_C(0xfff)) + (((pages ^ sign) - sign) << 12);
}

bool plt_decode_aarch64(const uint8_t *code, size_t len, uint64_t address, size_t entry_len,
			struct plt_stub *out_stub)
{
	struct bytes b = bytes_of(code, len < STUB_MAX ? len : STUB_MAX);
	(void)entry_len;

	*out_stub = (struct plt_stub){ .len = 4 };
	uint32_t adrp = bytes_u32(&b);
	uint32_t load = bytes_u32(&b);
	if ((adrp & 0x9f00001fu) != 0x90000010u || (load & 0xffc003ffu) != 0xf9400211u)
		return false;
	while (!b.short_read && bytes_u32(&b) != BR_X17)
		;
	if (b.short_read)
		return false;
	out_stub->len = (size_t)(b.at - code);
	out_stub->slot = adrp_target(adrp, address) + 8 * (load >> 10 & 0xfff);
	return true;
}
