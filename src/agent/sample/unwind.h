/*
 * unwind - walks the stack of an interrupted thread, with a cache of unwind rules.
 */
#pragma once
#include <ucontext.h>

struct walk;

void unwind_walk(const ucontext_t *context, struct walk *walk);
/* Images may have been unloaded: empties the cache. */
void unwind_flush(void);
