/*
 * ruby_objspace - finds the offsets of CRuby's garbage collector state, from its code.
 *
 * Patch releases have moved them, so a version's row may be wrong for the next one.
 */
#pragma once
#include <stdbool.h>

#include "abi/ruby_layout.h"

struct elf_file;

/*
 * Stores the offsets that rb_gc_count() reads, vm->objspace and objspace->profile.count; leaves
 * them unchanged if its code has another form. Returns whether it found vm->objspace, which
 * patch releases are known to move.
 */
bool ruby_objspace_find(const struct elf_file *elf, struct ruby_offsets *offsets);
