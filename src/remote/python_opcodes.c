#include "remote/python_opcodes.h"

#include <stddef.h>

#define VERSION(minor) (0x03000000U | (uint32_t)(minor) << 16)

/* Lib/opcode.py and Include/opcode_ids.h of each version. */
static const struct python_opcodes rows[] = {
	{ .first_version = VERSION(6),
	  .extended_arg = 144,
	  .pop_top = 1,
	  .name = 101,
	  .deref = 136,
	  .fast = { { 124 }, { 124 } },
	  .global = { { 116 }, { 116 } },
	  .attribute = { { 106 }, { 106 } },
	  .method = { { 106, 160 }, { 106, 160 } },
	  .call = 1 },
	{ .first_version = VERSION(11),
	  .extended_arg = 144,
	  .pop_top = 1,
	  .name = 101,
	  .deref = 137,
	  .fast = { { 124 }, { 124 } },
	  .global = { { 116, 47, 55 }, { 116, 48, 55 } },
	  .attribute = { { 106, 39 }, { 106, 43 } },
	  .method = { { 160, 56, 62 }, { 160, 59, 63 } },
	  .global_caches = 5,
	  .attribute_caches = 4,
	  .method_caches = 10,
	  .global_shift = 1,
	  .call = 7 },
	{ .first_version = VERSION(12),
	  .extended_arg = 144,
	  .pop_top = 1,
	  .name = 101,
	  .deref = 137,
	  .fast = { { 124, 127 }, { 124, 127 } },
	  .global = { { 116, 111 }, { 116, 112 } },
	  .attribute = { { 106, 70, 72, 76 }, { 106, 70, 73, 82 } },
	  .method = { { 106, 70, 72, 76 }, { 106, 70, 73, 82 } },
	  .global_caches = 4,
	  .attribute_caches = 9,
	  .method_caches = 9,
	  .global_shift = 1,
	  .attribute_shift = 1,
	  .call = 4 },
	{ .first_version = VERSION(13),
	  .extended_arg = 71,
	  .pop_top = 32,
	  .name = 92,
	  .deref = 84,
	  .fast = { { 85, 87 }, { 85, 87 } },
	  .pairs = { { 88, 111 }, { 88, 111 } },
	  .global = { { 91, 203 }, { 91, 204 } },
	  .attribute = { { 82, 191 }, { 82, 202 } },
	  .method = { { 82, 191 }, { 82, 202 } },
	  .global_caches = 4,
	  .attribute_caches = 9,
	  .method_caches = 9,
	  .global_shift = 1,
	  .attribute_shift = 1,
	  .call = 4 },
	{ .first_version = VERSION(14),
	  .extended_arg = 69,
	  .pop_top = 31,
	  .name = 93,
	  .deref = 83,
	  .fast = { { 84, 86, 88 }, { 84, 86, 88 } },
	  .pairs = { { 87, 89, 113 }, { 87, 89, 113 } },
	  .global = { { 92, 192 }, { 92, 193 } },
	  .attribute = { { 80, 177 }, { 80, 189 } },
	  .method = { { 80, 177 }, { 80, 189 } },
	  .global_caches = 4,
	  .attribute_caches = 9,
	  .method_caches = 9,
	  .global_shift = 1,
	  .attribute_shift = 1,
	  .call = 4 },
	{ .first_version = VERSION(15),
	  .extended_arg = 67,
	  .pop_top = 29,
	  .name = 92,
	  .deref = 82,
	  .fast = { { 83, 85, 87 }, { 83, 85, 87 } },
	  .pairs = { { 86, 88, 112 }, { 86, 88, 112 } },
	  .global = { { 91, 196 }, { 91, 197 } },
	  .attribute = { { 79, 183 }, { 79, 195 } },
	  .method = { { 79, 183 }, { 79, 195 } },
	  .global_caches = 4,
	  .attribute_caches = 9,
	  .method_caches = 9,
	  .global_shift = 1,
	  .attribute_shift = 1,
	  .call = 4 },
	{ .first_version = VERSION(16) }, /* and of later ones nothing is known */
};

const struct python_opcodes *python_opcodes_of(uint32_t version)
{
	const size_t count = sizeof rows / sizeof *rows;

	for (size_t i = 0; i + 1 < count; i++) {
		if (version >= rows[i].first_version && version < rows[i + 1].first_version)
			return &rows[i];
	}
	return NULL;
}

bool python_opcode_is(const struct python_opcode_ranges *ranges, uint8_t opcode)
{
	for (int i = 0; i < PYTHON_OPCODE_RANGES; i++) {
		if (opcode != 0 && opcode >= ranges->from[i] && opcode <= ranges->to[i])
			return true;
	}
	return false;
}
