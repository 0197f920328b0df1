/*
 * unwind - the walk of one stack, behind a cache of rules.
 */
#pragma once
#include <ucontext.h>

struct walk;

void unwind_walk(const ucontext_t *context, struct walk *walk);
/* Images may have gone: what was remembered of their addresses is void. */
void unwind_flush(void);
