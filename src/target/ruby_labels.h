/* ruby_labels - finds the code of CRuby's instructions, and the functions that execute them. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "abi/code_range.h"
#include "abi/ruby_layout.h"

struct elf_file;
struct error;
struct frame_entries;

struct ruby_labels {
	struct code_range core; /* the function that contains them all */
	size_t count;
	uint64_t addresses[RUBY_MAX_INSTRUCTIONS]; /* by opcode */
};

/* 0, or a negative errno and a sentence. */
int ruby_labels_find(struct elf_file *elf, const struct frame_entries *entries,
		     struct ruby_labels *out_labels, struct error *err);
/*
 * Finds the functions that call the one at `core`, with all their parts: rb_vm_exec(), whose
 * frames stand for running Ruby code.
 */
int ruby_loop_find(const struct elf_file *elf, const struct frame_entries *entries,
		   uint64_t core, struct code_range out_loop[CODE_RANGES], struct error *err);
