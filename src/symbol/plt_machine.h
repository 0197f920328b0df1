/*
 * plt_machine - decodes the PLT stubs of a machine: one file and one row of plt_machines[]
 * each.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A decoded stub: it jumps through a slot, or passes its number to the dynamic linker. */
struct plt_stub {
	size_t len;      /* distance to the next stub, even if this is none; not 0 */
	bool has_number; /* of its entry in .rela.plt */
	uint32_t number;
	uint64_t slot; /* address in the GOT */
};

struct plt_machine {
	uint16_t machine;                        /* EM_… */
	uint32_t jump_slot, glob_dat, irelative; /* types of relocations */
	/*
	 * Decodes a stub at the start of len bytes located at address; entry_len is the
	 * section's entry size. False: not a stub.
	 */
	bool (*decode)(const uint8_t *code, size_t len, uint64_t address, size_t entry_len,
		       struct plt_stub *out_stub);
};

bool plt_decode_x86_64(const uint8_t *code, size_t len, uint64_t address, size_t entry_len,
		       struct plt_stub *out_stub);
bool plt_decode_aarch64(const uint8_t *code, size_t len, uint64_t address, size_t entry_len,
			struct plt_stub *out_stub);
