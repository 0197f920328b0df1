/*
 * plt_machine - what the stubs of a machine look like: one file and one row of
 * plt_machines[] each.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A stub: it jumps through a slot, or says its number to the loader. */
struct plt_stub {
	size_t len;      /* where to look for the next one, whatever the answer; not 0 */
	bool has_number; /* of its entry in .rela.plt */
	uint32_t number;
	uint64_t slot; /* address in the GOT */
};

struct plt_machine {
	uint16_t machine;                        /* EM_… */
	uint32_t jump_slot, glob_dat, irelative; /* types of relocations */
	/*
	 * Recognizes the stub at the start of len bytes, which stand at address; entry_len is
	 * what the section says of its entries.  False: there is none.
	 */
	bool (*decode)(const uint8_t *code, size_t len, uint64_t address, size_t entry_len,
		       struct plt_stub *out_stub);
};

bool plt_decode_x86_64(const uint8_t *code, size_t len, uint64_t address, size_t entry_len,
		       struct plt_stub *out_stub);
bool plt_decode_aarch64(const uint8_t *code, size_t len, uint64_t address, size_t entry_len,
			struct plt_stub *out_stub);
