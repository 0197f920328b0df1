/* python_lines - finds the line of an instruction of a CPython code object. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "abi/python_layout.h"

/*
 * The line of an instruction (in bytes for the lnotab tables, else in code units), by the code
 * object's own table. 0 if the table gives none, is damaged or too short. Source:
 * Objects/lnotab_notes.txt (to 3.9), PEP 626 (3.10), Objects/locations.md or
 * InternalDocs/code_objects.md (from 3.11 on).
 */
uint32_t python_line_of(enum python_table kind, const uint8_t *table, size_t len,
			uint32_t first_line, uint32_t instruction);
