/*
 * ruby_objspace - where CRuby keeps its collector's state, by its own code.
 *
 * Patch releases have moved it, so a version's row need not be right for the next one.
 */
#pragma once
#include <stdbool.h>

#include "abi/ruby_layout.h"

struct elf_file;

/*
 * Puts what rb_gc_count() reads, vm->objspace and objspace->profile.count, into the offsets;
 * leaves them as they are where its code looks otherwise.  Whether it found vm->objspace, which
 * patch releases are known to move.
 */
bool ruby_objspace_find(const struct elf_file *elf, struct ruby_offsets *offsets);
