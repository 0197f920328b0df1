/*
 * thread_kinds - groups threads into kinds: those whose names differ in numbers only.
 *
 *	Thread-7 (process_request_thread), Thread-8 (process_request_thread), …
 *	Thread-N (process_request_thread)
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "profile/ids.h"

struct profile;
struct thread_kinds;

struct thread_kinds *thread_kinds_new(const struct profile *profile);
void thread_kinds_free(struct thread_kinds *kinds);
void thread_kinds_freep(struct thread_kinds **kinds);
/* From 1; 0 for no thread. */
uint32_t thread_kinds_of(const struct thread_kinds *kinds, struct thread_id thread);
/* The name all its threads share, or that name with an N for each number; never NULL. */
const char *thread_kinds_name(const struct thread_kinds *kinds, uint32_t kind);
