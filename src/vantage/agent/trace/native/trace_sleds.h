/*
 * trace_sleds - functions compiled with -fpatchable-function-entry are given their hook.
 *
 * The compiler has left room in each: instructions that do nothing (a sled), and a table of
 * where they are.  A call is written there, of __fentry__()'s other name, while nobody is
 * executing them: in what the program is linked with before it begins, and in what is loaded
 * later between its mapping and its first instruction (trace_linker.h).
 */
#pragma once
#include "abi/types.h"

struct link_map;

/* In the constructor: in all images there are.  Nothing, the second time. */
void trace_sleds_begin(void);
/* In this image and those behind it, which nobody executes so far. */
void trace_sleds_look(const struct link_map *first);
/*
 * The length of an instruction that does nothing, as assemblers write them (nop, and nopw and
 * nopl with operands and prefixes); 0: it is another.
 */
u32 trace_sleds_nop_bytes(const u8 *code);
