/*
 * Decodes PLT stubs of x86-64 (objdump -d -j .plt -j .plt.sec -j .plt.got):
 *   [endbr64] [bnd] jmp *slot(%rip)      jumps to the function: f3 0f 1e fa, f2, ff 25
 *   [endbr64] push $number; jmp .plt     calls the dynamic linker: 68
 */
#include "plt_machine.h"

#include <string.h>

#include "base/bytes.h"

bool plt_decode_x86_64(const uint8_t *code, size_t len, uint64_t address, size_t entry_len,
		       struct plt_stub *out_stub)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	/* Stubs in .plt.got have 8 bytes without IBT; all others have 16. */
	size_t stub_len = entry_len == 8 ? 8 : 16;

	*out_stub = (struct plt_stub){ .len = stub_len };
	if (len < stub_len)
		return false;
	struct bytes b = bytes_of(code, stub_len);
	if (memcmp(code, endbr64, sizeof endbr64) == 0)
		bytes_take(&b, sizeof endbr64);
	if (*b.at == 0xf2)
		bytes_u8(&b);
	uint8_t opcode = bytes_u8(&b);
	if (opcode == 0x68) {
		out_stub->has_number = true;
		out_stub->number = bytes_u32(&b);
	} else if (opcode == 0xff && bytes_u8(&b) == 0x25) {
		uint64_t distance = (uint64_t)(int32_t)bytes_u32(&b);
		out_stub->slot = address + (uint64_t)(b.at - code) + distance;
	} else {
		return false;
	}
	return !b.short_read;
}
